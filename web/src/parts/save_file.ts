// Files made in the browser: a chart as a picture, its numbers as a table.

export function save_file(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser reads it after this task.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** "Cost by model" as "cost-by-model". */
export const file_name = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 80) || "chart";

const margin = 12;
const line_height = 18;

/** The drawn chart with its title and key, on the ground of the page. */
export async function chart_picture(figure: HTMLElement, title: string): Promise<Blob | null> {
  const drawn = figure.querySelector("canvas");
  if (!drawn) return null;
  const scale = drawn.width / Math.max(1, drawn.clientWidth);
  const keys = [...figure.querySelectorAll<HTMLElement>(".chart-key")];
  const style = getComputedStyle(document.body);
  const picture = document.createElement("canvas");
  picture.width = drawn.width + 2 * margin * scale;
  picture.height = drawn.height + (2 * margin + 2 * line_height) * scale;
  const pen = picture.getContext("2d");
  if (!pen) return null;
  pen.fillStyle = style.backgroundColor;
  pen.fillRect(0, 0, picture.width, picture.height);
  pen.scale(scale, scale);
  pen.textBaseline = "top";
  pen.fillStyle = style.color;
  pen.font = `600 13px ${style.fontFamily}`;
  pen.fillText(title, margin, margin, drawn.clientWidth);
  pen.font = `12px ${style.fontFamily}`;
  let left = margin;
  for (const key of keys) {
    const mark = key.querySelector("i");
    if (mark) {
      pen.fillStyle = getComputedStyle(mark).backgroundColor;
      pen.fillRect(left, margin + line_height + 3, 8, 8);
    }
    pen.fillStyle = getComputedStyle(key).color;
    const text = (key.firstElementChild?.nextSibling?.textContent ?? key.textContent ?? "").trim();
    pen.fillText(text, left + 12, margin + line_height);
    left += 12 + pen.measureText(text).width + 14;
  }
  pen.drawImage(drawn, margin, margin + 2 * line_height, drawn.width / scale, drawn.height / scale);
  return new Promise((done) => picture.toBlob(done, "image/png"));
}
