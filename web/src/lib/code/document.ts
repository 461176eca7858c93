// Code out of a Markdown document: the fenced blocks of each "## section".

export function code_blocks(text: string): Map<string, string[]> {
  const sections = new Map<string, string[]>();
  let title = "";
  let block: string[] | null = null;
  for (const line of text.split("\n")) {
    if (block && line.startsWith("```")) {
      sections.set(title, [...(sections.get(title) ?? []), block.join("\n")]);
      block = null;
    } else if (block) block.push(line);
    else if (line.startsWith("```")) block = [];
    else if (line.startsWith("## ")) title = line.slice(3).trim();
  }
  return sections;
}
