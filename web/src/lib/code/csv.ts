// Rows of a CSV text (RFC 4180), at most as many as are shown.

export function csv_rows(text: string, most: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  const end_cell = () => {
    row.push(cell);
    cell = "";
  };
  const end_row = () => {
    end_cell();
    rows.push(row);
    row = [];
  };
  for (let at = 0; at < text.length && rows.length < most; at++) {
    const letter = text[at];
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') {
        cell += '"';
        at++;
      } else quoted = false;
    } else if (letter === '"' && cell === "") quoted = true;
    else if (letter === ",") end_cell();
    else if (letter === "\n") end_row();
    else if (letter !== "\r" || text[at + 1] !== "\n") cell += letter;
  }
  if (rows.length < most && (cell !== "" || row.length > 0)) end_row();
  return rows;
}
