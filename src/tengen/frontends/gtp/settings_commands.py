"""Commands about rules and parameters."""

from __future__ import annotations

import json

from tengen.frontends.gtp import settings
from tengen.frontends.gtp.dispatch import command
from tengen.frontends.gtp.protocol import GtpError
from tengen.frontends.gtp.session import GtpSession

# KGS means positional superko by its Chinese rules.
_KGS_RULES = {
    "chinese": "chinese-kgs",
    "japanese": "japanese",
    "aga": "aga",
    "new_zealand": "new-zealand",
}


class SettingsCommands:
    """Rules and parameters."""

    def __init__(self, session: GtpSession) -> None:
        self._session = session

    @command("kata-get-rules")
    def get_rules(self) -> str:
        return json.dumps(
            self._session.position.rules.as_json(), sort_keys=True, separators=(",", ":")
        )

    @command("kata-set-rules")
    def set_rules(self, *rules: str) -> None:
        from tengen.game.rules import parse_rules

        text = " ".join(rules)
        if not text:
            raise GtpError("syntax error: write kata-set-rules RULES")
        self._session.set_terms(parse_rules(text))

    @command("kata-set-rule")
    def set_rule(self, rule: str, value: str) -> None:
        from tengen.game.rules import parse_rules

        changed = {**self._session.position.rules.as_json(), rule: value}
        if rule == "score":  # the other name of scoring
            changed["scoring"] = changed.pop("score")
        self._session.set_terms(parse_rules(changed))

    @command("kgs-rules")
    def kgs_rules(self, rules: str) -> None:
        from tengen.game.rules import parse_rules

        name = _KGS_RULES.get(rules.lower())
        if name is None:
            raise GtpError(f"unknown rules {rules[:40]!r}; known are {', '.join(_KGS_RULES)}")
        self._session.set_terms(parse_rules(name))

    @command("kata-list-params")
    def list_params(self) -> str:
        return " ".join(settings.NAMES)

    @command("kata-get-param")
    def get_param(self, param: str) -> str:
        return settings.read(self._session.settings, param)

    @command("kata-get-params")
    def get_params(self) -> str:
        return settings.read_all(self._session.settings)

    @command("kata-set-param")
    def set_param(self, param: str, value: str) -> None:
        self._change({param: value})

    @command("kata-set-params")
    def set_params(self, *params: str) -> None:
        try:
            given = json.loads(" ".join(params))
        except ValueError as error:
            raise GtpError(f"not a JSON object: {error}") from None
        if not isinstance(given, dict):
            raise GtpError("write kata-set-params with a JSON object")
        texts = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in given.items()
        }
        self._change(texts)

    def _change(self, texts: dict[str, str]) -> None:
        changed = self._session.settings
        for name, text in texts.items():
            changed = settings.changed(changed, name, text)
        self._session.rest()
        self._session.settings = changed
