// The official MCP client lets itself in by OAuth, as an agent on a person's machine does.
//   node mcp_oauth.mjs MCP_URL SCOPE
// Prints the address at which the person decides; reads the address that the browser was sent to from standard input;
// prints the names of the tools and, after its token was thrown away, again: renewed with its refresh token.
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";

const [url, scope] = process.argv.slice(2);
const kept = {};
const provider = {
  redirectUrl: "http://127.0.0.1:8765/callback",
  clientMetadata: {
    client_name: "The official client",
    redirect_uris: ["http://127.0.0.1:8765/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    scope,
  },
  state: () => "a state of the client",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => {
    kept.client = client;
  },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => {
    kept.tokens = tokens;
  },
  redirectToAuthorization: (address) => console.log(JSON.stringify({ authorize: address.href })),
  saveCodeVerifier: (verifier) => {
    kept.verifier = verifier;
  },
  codeVerifier: () => kept.verifier,
};

async function tools() {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  try {
    await client.connect(transport);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    return transport;
  }
  const listed = await client.listTools();
  console.log(JSON.stringify({ tools: listed.tools.map((tool) => tool.name), token: kept.tokens.access_token }));
  await client.close();
  return null;
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const waiting = await tools();
if (!waiting) throw new Error("no authorization was needed");
await waiting.finishAuth(new URL((await lines.next()).value).searchParams);
await tools();
kept.tokens = { ...kept.tokens, access_token: "honemcp_expired" };
await tools();
process.exit(0);
