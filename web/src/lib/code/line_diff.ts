// The lines that two texts have differently, in order: for texts that the browser has, such as prompts and examples.

export interface DiffedLine {
  kind: "same" | "removed" | "added";
  text: string;
}

/** Beyond this the middle is shown as removed and added as a whole. */
const most_pairs = 4_000_000;

/** Lines in the order of a unified diff: removed ones before the added ones that replace them. */
export function line_diff(before: string, after: string): DiffedLine[] {
  const a = before === "" ? [] : before.split("\n");
  const b = after === "" ? [] : after.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const same = (lines: string[]): DiffedLine[] => lines.map((text) => ({ kind: "same", text }));
  return [
    ...same(a.slice(0, head)),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...same(a.slice(a.length - tail)),
  ];
}

function middle(a: string[], b: string[]): DiffedLine[] {
  const removed = (text: string): DiffedLine => ({ kind: "removed", text });
  const added = (text: string): DiffedLine => ({ kind: "added", text });
  if (a.length * b.length > most_pairs) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
  const lines: DiffedLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = a[i];
    const right = b[j];
    if (left !== undefined && left === right) {
      lines.push({ kind: "same", text: left });
      i++;
      j++;
    } else if (
      left !== undefined &&
      (right === undefined || (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))
    ) {
      lines.push(removed(left));
      i++;
    } else if (right !== undefined) {
      lines.push(added(right));
      j++;
    }
  }
  return lines;
}

/** Runs of equal lines longer than twice `context` are cut; a number stands for the lines left out. */
export function with_context(lines: DiffedLine[], context = 3): (DiffedLine | number)[] {
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some((line) => line.kind !== "same"),
  );
  const shown: (DiffedLine | number)[] = [];
  for (const [index, line] of lines.entries()) {
    const last = shown[shown.length - 1];
    if (near[index]) shown.push(line);
    else if (typeof last === "number") shown[shown.length - 1] = last + 1;
    else shown.push(1);
  }
  return shown;
}
