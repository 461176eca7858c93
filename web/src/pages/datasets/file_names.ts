// Which files a value names.

/** The ids that a value names, each once. */
export function files_in(value: unknown, found: string[] = []): string[] {
  if (typeof value !== "object" || value === null) return found;
  const entries = Object.entries(value);
  const [first] = entries;
  if (!Array.isArray(value) && entries.length === 1 && first?.[0] === "$file") {
    const id = first[1];
    if (typeof id === "string" && /^artifact_[0-9A-Z]{26}$/.test(id) && !found.includes(id)) found.push(id);
    return found;
  }
  for (const [, entry] of entries) files_in(entry, found);
  return found;
}
