// Paths: "/s/:space/projects/:project" against "/s/default/projects/my%20app".

export type Params = Record<string, string>;

function parts(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

/** The parameters of a path, or null when the pattern does not match. */
export function match_path(pattern: string, path: string): Params | null {
  const expected = parts(pattern);
  const actual = parts(path);
  if (expected.length !== actual.length) return null;
  const params: Params = {};
  for (const [index, part] of expected.entries()) {
    const value = decoded(actual[index] ?? "");
    if (value === null) return null;
    if (part.startsWith(":")) params[part.slice(1)] = value;
    else if (part !== value) return null;
  }
  return params;
}

/** The path of a pattern, or null when a parameter is not known here. */
export function fill_path(pattern: string, params: Params): string | null {
  const filled: string[] = [];
  for (const part of parts(pattern)) {
    const value = part.startsWith(":") ? params[part.slice(1)] : part;
    if (value === undefined) return null;
    filled.push(encodeURIComponent(value));
  }
  return `/${filled.join("/")}`;
}

export type QueryChanges = Record<string, string | string[] | null>;

/** The address with some query parameters changed; null removes one, a list sets it once for each value. */
export function with_query(address: string, changes: QueryChanges): string {
  const [path = "", search = ""] = address.split("?", 2);
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    for (const one of value === null ? [] : [value].flat()) query.append(name, one);
  }
  const text = query.toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
  return text === "" ? path : `${path}?${text}`;
}

/** Where to go after login: only a path of this origin, never another host. */
export function safe_next(next: string | null): string {
  if (!next?.startsWith("/") || next.startsWith("//") || next.includes("\\") || next.startsWith("/login")) return "/";
  return next;
}
