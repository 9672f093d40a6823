// Show a game to others: a link that carries it, a picture, a picture that moves.

import { movingPicture, stillPicture } from "../board/export.js";
import { pictureOf } from "../board/picture.js";
import { button, panel } from "../lib/controls.js";
import { element } from "../lib/element.js";
import { t } from "../lib/i18n.js";
import { notice } from "../page/notices.js";

export const order = 95;

const LONGEST_LINK = 12_000; // characters; longer ones are cut by mail and chat programs

function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Copy a text, also where pages may not use the clipboard (addresses without https). */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", { class: "unseen", text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

export function createPanel({ store, actions }) {
  async function shareLink() {
    const answer = await fetch(`/api/sessions/${store.state.session}/game.sgf`);
    if (!answer.ok) return notice(t("error.away"));
    const link = `${location.origin}/#sgf=${encodeURIComponent((await answer.text()).replace(/\n/g, ""))}`;
    if (link.length > LONGEST_LINK) return notice(t("share.long"));
    await copy(link);
    return notice(t("share.copied"));
  }

  async function sharePicture() {
    const { state } = store;
    save(await stillPicture(state.game.size, pictureOf(state, null, null), state.layers.coordinates), "tengen.png");
  }

  let wanted = false;
  function shareAnimation() {
    wanted = true;
    notice(t("share.working"));
    actions.send("boards");
  }

  store.watch(["boards"], async ({ boards, game, layers }) => {
    if (!boards || !wanted) return;
    wanted = false;
    save(await movingPicture(game.size, boards.boards, layers.coordinates), "tengen-game.png");
  });

  const box = panel({ tabs: "analyse review play", id: "share" },
    element("div", { class: "actions" },
      button({ text: "share.link", picture: "share", act: shareLink, id: "share-link" }),
      button({ text: "share.picture", picture: "picture", act: sharePicture, id: "share-picture" }),
      button({ text: "share.animation", picture: "play", act: shareAnimation, id: "share-animation" })));
  store.watch(["tree"], ({ tree }) => {
    box.hidden = !tree || tree.byId.size <= 1;
  });
  return box;
}
