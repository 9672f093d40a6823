// The tree of a game: nodes by id, their children in order. Functions return new trees.

/** A tree from the server's list of nodes, parents before children. */
export function treeOf(nodes) {
  const tree = { byId: new Map(), children: new Map(), root: null, visited: new Map() };
  for (const node of nodes) insert(tree, node);
  return tree;
}

function insert(tree, node) {
  tree.byId.set(node.id, node);
  if (!tree.children.has(node.id)) tree.children.set(node.id, []);
  if (node.parent === null || node.parent === undefined) tree.root = node.id;
  else {
    if (!tree.children.has(node.parent)) tree.children.set(node.parent, []);
    const siblings = tree.children.get(node.parent);
    if (!siblings.includes(node.id)) siblings.push(node.id);
  }
}

function copied(tree) {
  const children = new Map();
  for (const [id, list] of tree.children) children.set(id, [...list]);
  return { byId: new Map(tree.byId), children, root: tree.root, visited: new Map(tree.visited) };
}

/** The tree with a node added or replaced. */
export function withNode(tree, node) {
  const next = copied(tree);
  insert(next, node);
  return next;
}

/** The tree without a node and all that follows it. */
export function withoutNode(tree, id) {
  const next = copied(tree);
  const parent = next.byId.get(id)?.parent;
  if (next.children.has(parent)) {
    next.children.set(parent, next.children.get(parent).filter((child) => child !== id));
  }
  if (next.visited.get(parent) === id) next.visited.delete(parent);
  const doomed = [id];
  while (doomed.length > 0) {
    const one = doomed.pop();
    doomed.push(...(next.children.get(one) ?? []));
    next.byId.delete(one);
    next.children.delete(one);
    next.visited.delete(one);
  }
  return next;
}

/** The tree with the path to a node remembered, so that stepping forward follows it. */
export function withVisit(tree, id) {
  const path = pathTo(tree, id);
  if (path.every((one, i) => i === 0 || tree.visited.get(path[i - 1]) === one)) return tree;
  const visited = new Map(tree.visited);
  for (let i = 1; i < path.length; i += 1) visited.set(path[i - 1], path[i]);
  return { ...tree, visited };
}

/** Ids from the root to a node, both included. */
export function pathTo(tree, id) {
  const path = [];
  for (let one = id; one !== null && one !== undefined && tree.byId.has(one); one = tree.byId.get(one).parent) {
    path.push(one);
  }
  return path.reverse();
}

/** The child to step forward to: the one visited last, else the first. */
export function nextOf(tree, id) {
  return tree.visited.get(id) ?? tree.children.get(id)?.[0] ?? null;
}

/** The whole line through a node, from the root to its end. */
export function lineThrough(tree, id) {
  const line = pathTo(tree, id);
  for (let one = nextOf(tree, id); one !== null; one = nextOf(tree, one)) line.push(one);
  return line;
}

/** The children of the parent, in order; the node itself included. */
export function siblingsOf(tree, id) {
  const parent = tree.byId.get(id)?.parent;
  return tree.children.get(parent) ?? [id];
}

/** Where each node is drawn: its column is its depth, its lane is new for each variation. */
export function layout(tree) {
  const places = new Map();
  if (tree.root === null) return { places, columns: 0, lanes: 0 };
  const taken = []; // the first free lane of each column
  let columns = 0;
  let lanes = 0;
  const waiting = [{ id: tree.root, column: 0, atLeast: 0 }];
  while (waiting.length > 0) {
    const { id, column, atLeast } = waiting.pop();
    const chain = [id];
    for (let one = id; tree.children.get(one).length > 0; ) {
      one = tree.children.get(one)[0];
      chain.push(one);
    }
    let lane = atLeast;
    for (let i = 0; i < chain.length; i += 1) lane = Math.max(lane, taken[column + i] ?? 0);
    // The edge from the parent's column must be free as well.
    if (column > 0) taken[column - 1] = Math.max(taken[column - 1] ?? 0, lane + (atLeast > 0 ? 1 : 0));
    const branches = [];
    chain.forEach((one, i) => {
      places.set(one, { column: column + i, lane });
      taken[column + i] = lane + 1;
      const rest = tree.children.get(one).slice(1).reverse();
      for (const branch of rest) branches.push({ id: branch, column: column + i + 1, atLeast: lane + 1 });
    });
    columns = Math.max(columns, column + chain.length);
    lanes = Math.max(lanes, lane + 1);
    // Late branches are placed first: they are short and leave room for the early ones below.
    waiting.push(...branches);
  }
  return { places, columns, lanes };
}
