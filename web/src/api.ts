// The only module that calls the server: typed JSON over fetch and one error type.

/** An error of the API: the server's message, and the request id to find it in the server's log. */
export class ApiError extends Error {
  constructor(
    /** 0 when there was no response. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly request_id: string | null,
    readonly retry_after_seconds: number | null,
    /** The login needs a code of an authenticator app. */
    readonly needs_code = false,
  ) {
    super(message);
  }
}

type Query = Record<string, string | number | boolean | null | undefined>;

interface RequestOptions {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
}

interface Envelope<T> {
  data: T;
  next_cursor?: string | null;
}

let csrf_token: string | null = null;
let on_unauthorized: () => void = () => undefined;

export function set_csrf_token(token: string | null): void {
  csrf_token = token;
}

/** Of requests that are not sent from here: uploads with progress. */
export const csrf = () => csrf_token;

/** Called when the login has ended while a page was open. */
export function when_unauthorized(action: () => void): void {
  on_unauthorized = action;
}

export function api_url(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text === "" ? path : `${path}?${text}`;
}

async function failure(response: Response): Promise<ApiError> {
  let code = "internal";
  let message = `The server responded with ${response.status} ${response.statusText}`.trim();
  try {
    const body = (await response.json()) as { error?: { code?: string; message?: string } };
    code = body.error?.code ?? code;
    message = body.error?.message ?? message;
  } catch {
    // Not JSON, for example an error page of a proxy: only the status is known.
  }
  const wait = Number(response.headers.get("Retry-After"));
  return new ApiError(
    response.status,
    code,
    message,
    response.headers.get("X-Request-Id"),
    Number.isFinite(wait) && wait > 0 ? wait : null,
    response.headers.get("WWW-Authenticate")?.startsWith("TOTP") ?? false,
  );
}

async function send<T>(method: string, path: string, options: RequestOptions = {}): Promise<Envelope<T>> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  if (method !== "GET" && csrf_token) headers["X-CSRF-Token"] = csrf_token;
  let response: Response;
  try {
    response = await fetch(api_url(path, options.query), {
      method,
      headers,
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal,
      credentials: "same-origin",
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(
      0,
      "unavailable",
      "Could not reach the server. Check that it is running and that your network works, then try again.",
      null,
      null,
    );
  }
  if (!response.ok) {
    const error = await failure(response);
    if (error.status === 401 && path !== "/v1/login" && !path.startsWith("/v1/invites/")) on_unauthorized();
    throw error;
  }
  if (response.status === 204) return { data: {} as T };
  return (await response.json()) as Envelope<T>;
}

/** A request whose response is not JSON. */
async function post_raw(url: string, body: unknown, accept: string, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { Accept: accept, "Content-Type": "application/json" };
  if (csrf_token) headers["X-CSRF-Token"] = csrf_token;
  const text = JSON.stringify(body);
  const response = await fetch(url, { method: "POST", headers, body: text, signal, credentials: "same-origin" });
  if (response.ok) return response;
  const error = await failure(response);
  if (error.status === 401) on_unauthorized();
  throw error;
}

/** A request whose response is read as it arrives. */
export const post_stream = (url: string, body: unknown, signal: AbortSignal) =>
  post_raw(url, body, "text/event-stream", signal);

/** A request whose response is a file. */
export const post_file = async (url: string, body: unknown) => (await post_raw(url, body, "*/*")).blob();

export interface Page<T> {
  rows: T[];
  next_cursor: string | null;
}

export const api = {
  async get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
    return (await send<T>("GET", path, { query, signal })).data;
  },
  async page<T>(path: string, query?: Query, signal?: AbortSignal): Promise<Page<T>> {
    const response = await send<T[]>("GET", path, { query, signal });
    return { rows: response.data, next_cursor: response.next_cursor ?? null };
  },
  /** All rows of a list that is always small (members, keys, projects). */
  async list<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T[]> {
    const rows: T[] = [];
    let cursor: string | null = null;
    do {
      const page: Page<T> = await api.page<T>(path, { ...query, limit: 1000, cursor }, signal);
      rows.push(...page.rows);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return rows;
  },
  async post<T>(path: string, body: unknown, query?: Query): Promise<T> {
    return (await send<T>("POST", path, { body, query })).data;
  },
  /** A response without the usual envelope. */
  async post_whole<T>(path: string, body: unknown, query?: Query): Promise<T> {
    return (await send("POST", path, { body, query })) as T;
  },
  async put<T>(path: string, body: unknown, query?: Query): Promise<T> {
    return (await send<T>("PUT", path, { body, query })).data;
  },
  async patch<T>(path: string, body: unknown, query?: Query): Promise<T> {
    return (await send<T>("PATCH", path, { body, query })).data;
  },
  async delete<T>(path: string, query?: Query): Promise<T> {
    return (await send<T>("DELETE", path, { query })).data;
  },
};

/** A segment of an API path. */
export const segment = encodeURIComponent;

export function to_api_error(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, "internal", error instanceof Error ? error.message : String(error), null, null);
}
