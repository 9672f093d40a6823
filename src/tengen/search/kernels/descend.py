"""Kernels: walk from a root to a leaf, move by move, and note what waits for the network there."""

from __future__ import annotations

import numpy as np

from tengen.features.kernels.feature_table import KNOWS_ADVANTAGE, SEES_LADDERS, encode_by_kind
from tengen.features.kernels.katago import encode_advantage, passes_in_friendship
from tengen.game.color import EMPTY
from tengen.game.kernels.board import (
    END_IS_HIDDEN,
    END_IS_HIDDEN_FROM_LOSERS,
    END_IS_SHOWN,
    MAIN_PHASE,
    PLAYED_OUT,
    SECOND_CLEAN_UP,
    copy_board,
    is_forbidden_suicide,
    n_points,
    opponent,
    point_of,
)
from tengen.game.kernels.clean_up_phases import is_last_phase, start_color
from tengen.game.kernels.moves import (
    ENDED_BY_REPETITION,
    GOING_ON,
    PASS,
    is_legal,
    pass_would_end,
    play,
    repeats,
    took_before,
)
from tengen.game.kernels.scoring import final_score
from tengen.jit import kernel
from tengen.search.kernels.backup import back_up, take_back
from tengen.search.kernels.descent_scratch import with_ladders_of
from tengen.search.kernels.forest import (
    AS_ASKED,
    EARLY_PASSES,
    EXPANDED,
    FRESH,
    LEAD,
    MAX_DEPTH,
    NEXT_CANDIDATE,
    NO_RESULT,
    NONE,
    SCORE,
    SCORE_SQUARE,
    TERMINAL,
    UNCERTAINTIES,
    UTILITY,
    VALUE,
    VALUE_ERROR,
    WAITING,
    bias_by_key,
    bring_best_forward,
    copy_values,
    find_transposition,
    has_room,
    keeps_all_human,
    new_edge,
    new_node,
    nth_candidate,
    packed_point,
    sign_of,
)
from tengen.search.kernels.human import SEARCH, WEIGHTLESS, human_child, next_chooser
from tengen.search.kernels.local_pattern import local_key, mixed
from tengen.search.kernels.mirror import centre_counts, last_move_mirrors, mirror_child
from tengen.search.kernels.select import best_child, root_child
from tengen.search.kernels.utility import utility_of

VISITS_PER_LEAF = 24

# What became of a descent: its leaf was known without the network, waits for it, or is taken.
KNOWN, TO_EVALUATE, BLOCKED = 0, 1, 2


@kernel
def find_leaves(forest, trees, batch, n, last, settings, scratch, kind, human_kind):
    """Let each of these trees look for its leaves; rows n..last of the batch take them, encoded.

    `kind` and `human_kind` are the inputs of the network and of one that imitates people.

    Returns the end of the rows used.
    """
    for k in range(trees.shape[0]):
        g = trees[k]
        if n < last and forest.trees[g].renew == 1:
            _show_root(forest, g, batch.paths[n], scratch)
            _encode_row(forest, batch, n, scratch, settings, kind, human_kind)
            n += 1
        for _ in range(leaves_at_a_time(forest, g)):
            if n == last or enough(forest, g):
                break
            path = batch.paths[n]
            found = find_leaf(forest, g, path, settings, scratch)
            if found == BLOCKED:
                break
            if found == TO_EVALUATE:
                _encode_row(forest, batch, n, scratch, settings, kind, human_kind)
                n += 1
    return n


@kernel(inline=True)
def _encode_row(forest, batch, n, scratch, settings, kind, human_kind):
    """Show the leaf of row n, where the scratch stands, to the network."""
    path = batch.paths[n]
    planes, globals_, caught = batch.planes[n], batch.globals[n], batch.caught[n]
    encode_leaf(forest, path, scratch, settings, kind, planes, globals_, caught)
    if batch.human_planes.shape[0] and (path.depth == 0 or keeps_all_human(forest)):
        planes, globals_ = batch.human_planes[n], batch.human_globals[n]
        encode_leaf(forest, path, scratch, settings, human_kind, planes, globals_, caught)
    batch.optimism[n] = settings.root_optimism if path.depth == 0 else settings.optimism


@kernel(inline=True)
def _copy_root(board, root):
    """Copy the board of a root. Below it territory is played out, whatever players do after it."""
    copy_board(board, root)
    if board.territory:
        board.territory = PLAYED_OUT


@kernel
def _show_root(forest, g, path, scratch):
    """Let the network see the root of tree g again, as a root: it was kept from below another."""
    board, tree = scratch.boards[0], forest.trees[g]
    _copy_root(board, forest.boards[g])
    path.tree = g
    path.depth = 0
    path.final = 0
    path.counts_from = 0
    path.extra = 0
    path.mirrored = 0
    path.nodes[0] = tree.root
    path.key = _list_legal_moves(board, forest.histories[g], path)
    tree.renew = 2


@kernel(inline=True)
def leaves_at_a_time(forest, g):
    """As many leaves as the tree may have in flight, but few while it is small: they are chosen
    without knowing of each other.
    """
    tree = forest.trees[g]
    descents = forest.nodes[tree.root].visits + tree.uncounted
    return min(tree.leaves, 1 + descents // VISITS_PER_LEAF)


@kernel(inline=True)
def enough(forest, g):
    """Will tree g have its visits when all that is under way has come back?"""
    tree = forest.trees[g]
    root = forest.nodes[tree.root]
    return root.visits + tree.uncounted + root.pending >= tree.target


@kernel(inline=True)
def find_leaf(forest, g, path, settings, scratch):
    """Walk down tree g once, up to a leaf; returns what became of it. KNOWN is backed up."""
    found = _walk_down(forest, g, path, settings, scratch)
    if found == KNOWN:  # once for all cases: what is inlined here is large
        back_up(forest, path, path.depth, settings)
    return found


@kernel(inline=True)
def _walk_down(forest, g, path, settings, scratch):
    """Follow the best moves from the root to a leaf; a leaf that is KNOWN is not backed up yet."""
    board, history = scratch.boards[0], forest.histories[g]  # written to behind what was played
    tree = forest.trees[g]
    _copy_root(board, forest.boards[g])
    path.tree = g
    path.counts_from = 0
    path.extra = 0
    path.mirrored = 0
    depth = 0
    broken = MAX_DEPTH if settings.anti_mirror else NONE  # the first move that is no mirror image
    goes_on = False
    index = tree.root
    path.nodes[0] = index
    forest.nodes[index].pending += 1
    while forest.nodes[index].status == EXPANDED and depth + 1 < MAX_DEPTH:
        chooser = SEARCH
        if forest.styles.shape[0]:
            chooser = next_chooser(forest, g, index, depth)
        if chooser != SEARCH:
            choice = human_child(forest, g, index, chooser == WEIGHTLESS, settings)
        elif broken >= depth:
            choice = mirror_child(forest, g, index, depth, board, history, settings)
        elif depth == 0:
            choice = root_child(forest, g, settings)
        else:
            choice = best_child(forest, index, settings)
        if settings.more_passing_hacks and is_last_phase(board) and pass_would_end(board, history):
            choice = _try_both_kinds(forest, g, index, choice, path, depth)
        if choice == NEXT_CANDIDATE:
            if not has_room(forest, g):
                tree.full = 1
                take_back(forest, path, depth)
                return BLOCKED
            if settings.graph and not _next_is_legal(forest, index, board, history):
                continue
            choice = _try_next(forest, g, index)
            point = packed_point(forest.edges[choice].packed)
            if forest.biases.shape[0] and board.ply > 0 and point != PASS:
                key = local_key(board, history, point)
                forest.nodes[forest.edges[choice].child].bias = bias_by_key(forest, g, key)
        if choice == NONE:
            break
        edge = forest.edges[choice]
        point = packed_point(edge.packed)
        path.edges[depth] = choice
        if chooser == WEIGHTLESS:
            path.counts_from = depth + 1
        elif (
            (forest.styles.shape[0] or not settings.graph)
            and path.counts_from <= depth
            and edge.visits < forest.nodes[edge.child].visits
        ):
            edge.visits += 1  # visits without weight have evaluated the child already
            path.depth = depth
            return KNOWN
        if settings.graph and not _may_go_on(path, depth, board, history, point, edge.child):
            if chooser != WEIGHTLESS:
                edge.visits += 1  # so that other moves are tried next time
            path.depth = depth
            return KNOWN
        goes_on = point == PASS and (
            (settings.conservative_pass and depth == 0)
            or (settings.friendly_passes and passes_in_friendship(board, history))
        )
        depth += 1
        index = edge.child
        path.nodes[depth] = index
        forest.nodes[index].pending += 1
        board.end = GOING_ON  # passes that ended the game did not
        play(board, history, point)
        if broken >= depth and depth % 2 == 0 and not last_move_mirrors(board, history):
            broken = depth - 1
    path.depth = depth
    status = forest.nodes[index].status
    if status == WAITING:
        take_back(forest, path, depth)
        tree.collisions += 1
        return BLOCKED
    if status == FRESH and forest.nodes[index].own_visits > 0 and not has_room(forest, g):
        tree.full = 1  # its subtree was given up; its candidates need room again
        take_back(forest, path, depth)
        return BLOCKED
    if status == FRESH and settings.anti_mirror:
        path.mirrored = centre_counts(forest, g, board, depth, broken)
    if status == FRESH:
        return _meet_leaf(forest, g, path, goes_on, settings, scratch)
    if status == TERMINAL:
        tree.terminal += 1
    forest.nodes[index].own_visits += 1  # the end of a game, or of what a path can hold
    return KNOWN


@kernel(inline=True)
def _try_next(forest, g, index):
    """Make the best candidate a child; returns the edge to it."""
    node = forest.nodes[index]
    at = node.block + node.n_tried
    packed = forest.candidates[at]
    edge = new_edge(forest, g, index, new_node(forest, g, opponent(node.to_play)), packed)
    bring_best_forward(forest.candidates, at + 1, node.block + node.n_candidates)
    return edge


@kernel
def _try_both_kinds(forest, g, index, choice, path, depth):
    """Where a pass ends the game, let a descent try a pass if only other moves were tried, or the
    other way round. It does not count: its leaf is only looked at.
    """
    node = forest.nodes[index]
    first, end = node.block + node.n_tried, node.block + node.n_candidates
    if choice == NONE or first == end or forest.trees[g].avoids in (EARLY_PASSES, AS_ASKED):
        return choice
    if node.visits - node.own_visits < 2:
        return choice
    passes = 0
    for k in range(node.n_tried):
        passes += packed_point(nth_candidate(forest, node, k)) == PASS
    packed = forest.candidates[first] if choice == NEXT_CANDIDATE else forest.edges[choice].packed
    is_pass = packed_point(packed) == PASS
    if passes == 0 and not is_pass:
        for i in range(first, end):
            if packed_point(forest.candidates[i]) == PASS:
                packed, forest.candidates[i] = forest.candidates[i], forest.candidates[first]
                forest.candidates[first] = packed
                _look_besides(path, depth)
                return np.int64(NEXT_CANDIDATE)
    elif passes == node.n_tried and passes > 0 and is_pass:
        _look_besides(path, depth)
        return np.int64(NEXT_CANDIDATE)
    return choice


@kernel(inline=True)
def _look_besides(path, depth):
    """Let a descent count for its leaf alone, which comes next."""
    path.extra = 1
    path.counts_from = depth + 1


@kernel
def _next_is_legal(forest, index, board, history):
    """Drop the best candidate of a node if this path forbids it."""
    node = forest.nodes[index]
    at, last = node.block + node.n_tried, node.block + node.n_candidates - 1
    if is_legal(board, history, packed_point(forest.candidates[at])):
        return True
    forest.candidates[at] = forest.candidates[last]
    node.n_candidates -= 1
    node.n_dropped += 1
    bring_best_forward(forest.candidates, at, last)
    return False


@kernel
def _may_go_on(path, depth, board, history, point, child):
    """In a graph a shared node may lead to moves that this path forbids, or back onto the path."""
    for k in range(depth + 1):
        if path.nodes[k] == child:
            return False
    return is_legal(board, history, point)


@kernel(inline=True)
def _meet_leaf(forest, g, path, goes_on, settings, scratch):
    """Deal with a position seen for the first time, where the game may go on after passes."""
    board, history = scratch.boards[0], forest.histories[g]
    tree = forest.trees[g]
    depth = path.depth
    leaf = path.nodes[depth]
    over = (board.end != GOING_ON and not goes_on) or board.ply >= tree.move_limit
    path.final = over
    if over and not _judged_by_agreement(board, settings):
        tree.terminal += 1
        _settle(forest, leaf, board, scratch.features.life[0], settings, tree)
        return KNOWN
    path.key = _list_legal_moves(board, history, path)
    if over:
        path.key = ~path.key
    if path.mirrored:
        path.key ^= mixed(np.uint64(path.mirrored))  # another evaluation than without the centre
    forest.nodes[leaf].key = path.key
    transposition = find_transposition(forest, g, path.key)
    # A node whose subtree was given up keeps its visits and its place: it takes over nothing.
    if transposition != NONE and depth > 0 and forest.nodes[leaf].own_visits == 0:
        tree.shared += 1
        if settings.graph:
            _join(forest, g, path, depth, transposition)
        else:
            _copy_evaluation(forest, g, leaf, transposition)
        return KNOWN
    tree.evaluated += 1
    forest.nodes[leaf].status = WAITING
    return TO_EVALUATE


@kernel(inline=True)
def _judged_by_agreement(board, settings):
    """Do players agree at the end on what is dead, so that the board is not counted as it stands?

    Not under territory scoring, which is played out. Nor where friendly passes do not end the game:
    there a third pass ends it, and dead stones could have been captured, as in KataGo.
    """
    friendly = board.friendly_pass and not settings.friendly_passes
    return board.end != ENDED_BY_REPETITION and not board.territory and friendly


@kernel(inline=True)
def _settle(forest, leaf, board, life, settings, tree):
    """Give the end of a game its evaluation by the rules."""
    node = forest.nodes[leaf]
    score = np.float32(0)
    if board.end != ENDED_BY_REPETITION:
        score = np.float32(final_score(board, life))
    value = np.float32(np.sign(score))
    if score == 0 and board.end != ENDED_BY_REPETITION:
        value = np.float32(1) - np.float32(2) * settings.white_draw_wins
    no_result = np.float32(board.end == ENDED_BY_REPETITION)
    score -= tree.draw_komi
    node.own[VALUE] = value
    node.own[NO_RESULT] = no_result
    node.own[SCORE] = score
    node.own[SCORE_SQUARE] = score * score
    node.own[LEAD] = score
    node.own[UTILITY] = utility_of(
        settings, value, no_result, score, score * score, tree.centre, root_of_area(board)
    )
    root = forest.nodes[tree.root]
    if settings.uncertainty > 0 and root.uncertainty[VALUE_ERROR] > 0:
        node.own_weight = settings.most_weight  # nothing is uncertain about it
    node.own_visits = 1
    node.status = TERMINAL
    node.bias = NONE  # there is nothing to correct
    if forest.ownership.shape[0]:
        owner = forest.ownership[leaf]
        for y in range(board.height):
            for x in range(board.width):
                c = life.owner[point_of(board, x, y)]
                owner[y * board.width + x] = 0 if c == EMPTY else 127 * (3 - 2 * c)


@kernel(inline=True)
def root_of_area(board):
    return np.float32(np.sqrt(np.float32(board.width * board.height)))


@kernel
def _list_legal_moves(board, history, path):
    """Fill the path's legal moves; returns the key of the position: what lies before the players.

    The way there counts only where it forbids a move or lets a pass end the game.
    """
    key = board.hash ^ mixed(
        np.uint64(board.to_play)
        | np.uint64(board.passes << 2)
        | np.uint64(pass_would_end(board, history)) << np.uint64(4)
        | np.uint64(board.button << 5)
        | np.uint64(board.button_owner << 6)
        | np.uint64(board.ko) << np.uint64(8)
    )
    if board.territory:
        key ^= mixed(np.uint64(board.captured[1] << 10 | board.captured[2]) << np.uint64(20))
    for p in range(n_points(board)):
        path.legal[p] = 0
    if board.phase != MAIN_PHASE:
        return key ^ _list_clean_up_moves(board, history, path)
    for i in range(board.n_empty):
        p = np.uint32(board.empties[i])
        if is_forbidden_suicide(board, p):
            continue
        if p == board.ko or repeats(board, history, p):
            key ^= mixed(np.uint64(p) << np.uint64(50))
        else:
            path.legal[p] = 1
    path.legal[PASS] = 1
    return key


@kernel
def _list_clean_up_moves(board, history, path):
    """As `_list_legal_moves`, in a clean-up; returns what it adds to the key."""
    key = mixed(np.uint64(board.phase) << np.uint64(60)) ^ mixed(board.blocks)
    for y in range(board.height):
        for x in range(board.width):
            p = np.uint32(point_of(board, x, y))
            path.legal[p] = is_legal(board, history, p)
            if took_before(board, history, p):
                key ^= mixed(np.uint64(p) << np.uint64(50))
            if board.phase == SECOND_CLEAN_UP:
                key ^= mixed(np.uint64(p << 2 | start_color(board, p)) << np.uint64(40))
    path.legal[PASS] = 1
    return key


@kernel(inline=True)
def _join(forest, g, path, depth, transposition):
    """End the path in the transposition, and free the node made for the leaf, the latest one."""
    tree = forest.trees[g]
    tree.n_nodes -= 1
    forest.edges[path.edges[depth - 1]].child = transposition
    path.nodes[depth] = transposition
    forest.nodes[transposition].pending += 1


@kernel(inline=True)
def _copy_evaluation(forest, g, leaf, transposition):
    """Copy the evaluation of a transposition: the same statistics and moves, none tried."""
    tree = forest.trees[g]
    node, known = forest.nodes[leaf], forest.nodes[transposition]
    node.own_visits = 1
    node.own_weight = known.own_weight
    for k in range(UTILITY + 1):
        node.own[k] = known.own[k]
    for k in range(UNCERTAINTIES):
        node.uncertainty[k] = known.uncertainty[k]
    node.status = EXPANDED
    node.n_candidates = known.n_candidates
    node.block = g * forest.candidate_room + tree.n_candidates + 1
    forest.candidates[node.block - 1] = leaf
    for i in range(known.n_candidates):
        forest.candidates[node.block + i] = nth_candidate(forest, known, i)
    tree.n_candidates += known.n_candidates + 1
    if known.n_candidates:
        bring_best_forward(forest.candidates, node.block, node.block + node.n_candidates)
    copy_values(forest.caught[leaf], forest.caught[transposition])
    if forest.ownership.shape[0]:
        copy_values(forest.ownership[leaf], forest.ownership[transposition])
    if keeps_all_human(forest):
        copy_values(forest.human[leaf], forest.human[transposition])


@kernel(inline=True)
def encode_leaf(forest, path, scratch, settings, kind, planes, globals_, caught):
    """Show the leaf where the scratch stands to the network."""
    board, scratch = scratch.boards[0], scratch.features
    if SEES_LADDERS[kind]:
        for turn in range(1, 3):
            behind, earlier = path.depth - turn, scratch.caught[turn, : len(caught)]
            if behind >= 0:
                copy_values(earlier, forest.caught[path.nodes[behind]])
            else:
                copy_values(earlier, forest.caught_before[path.tree, -1 - behind])
        scratch = with_ladders_of(scratch, forest, path.tree)
    tree = forest.trees[path.tree]
    board.hides_end = END_IS_HIDDEN_FROM_LOSERS if settings.passing_hacks else END_IS_SHOWN
    if settings.conservative_pass and path.depth == 0:
        board.hides_end = END_IS_HIDDEN
    board.komi += tree.draw_komi
    encode_by_kind(kind, board, forest.histories[path.tree], scratch, planes, globals_)
    if tree.black_advantage != 0 and KNOWS_ADVANTAGE[kind]:
        encode_advantage(globals_, sign_of(board.to_play) * tree.black_advantage)
    board.komi -= tree.draw_komi
    if SEES_LADDERS[kind]:
        copy_values(caught, scratch.caught[0])
