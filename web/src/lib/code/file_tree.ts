// Paths as a tree; a folder that contains only one folder shares its line.

export interface TreeNode<File> {
  /** The last part, or several of them: "src/api". */
  name: string;
  path: string;
  file: File | null;
  children: TreeNode<File>[];
}

function insert<File>(root: TreeNode<File>, path: string, file: File): void {
  const parts = path.split("/");
  let node = root;
  for (const [index, name] of parts.entries()) {
    const last = index === parts.length - 1;
    let next = node.children.find((child) => child.name === name && (child.file === null) !== last);
    if (!next) {
      next = { name, path: parts.slice(0, index + 1).join("/"), file: last ? file : null, children: [] };
      node.children.push(next);
    }
    node = next;
  }
}

function compacted<File>(node: TreeNode<File>): TreeNode<File> {
  const only = node.children[0];
  if (node.file === null && node.children.length === 1 && only && only.file === null)
    return compacted({ ...only, name: `${node.name}/${only.name}` });
  return { ...node, children: sorted(node.children.map(compacted)) };
}

/** Folders first, then by name. */
function sorted<File>(nodes: TreeNode<File>[]): TreeNode<File>[] {
  return [...nodes].sort(
    (a, b) => Number(a.file !== null) - Number(b.file !== null) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  );
}

export function file_tree<File>(files: File[], path_of: (file: File) => string): TreeNode<File>[] {
  const root: TreeNode<File> = { name: "", path: "", file: null, children: [] };
  for (const file of files) insert(root, path_of(file), file);
  return sorted(root.children.map(compacted));
}

/** The files in the order in which the tree shows them. */
export function files_in_order<File>(nodes: TreeNode<File>[]): File[] {
  return nodes.flatMap((node) => (node.file === null ? files_in_order(node.children) : [node.file]));
}
