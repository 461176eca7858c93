// `oidc-provider`, a certified OpenID provider, for the tests of single sign-on.
//   node oidc_provider.mjs PORT HONE_URL PEOPLE_FILE KEY_FILE
// People are in a JSON file that is read for each request: {"ada": {"email": …, "groups": […]}}. Whoever types a name
// into its form is that person.
import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import Provider from "oidc-provider";

const [port, hone, people_file, key_file] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const people = () => JSON.parse(readFileSync(people_file, "utf8"));
const key = JSON.parse(readFileSync(key_file, "utf8"));

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "hone",
      client_secret: "a secret: 100% + more",
      redirect_uris: [`${hone}/v1/login/real/callback`],
      post_logout_redirect_uris: [`${hone}/login`],
      backchannel_logout_uri: `${hone}/v1/login/real/logout`,
    },
  ],
  jwks: { keys: [{ ...createPrivateKey(key.pem).export({ format: "jwk" }), kid: key.kid, use: "sig", alg: "RS256" }] },
  cookies: { keys: ["only for tests"] },
  scopes: ["openid", "email", "profile", "groups"],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
  pkce: { required: () => true },
  // Its own agent refuses loopback addresses; the tokens of back-channel logout go to one here.
  fetch: (url, { dispatcher: _, ...options }) => fetch(url, options),
  features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true }, backchannelLogout: { enabled: true } },
  interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_context, id) =>
    people()[id] && { accountId: id, claims: () => ({ sub: id, email_verified: true, ...people()[id] }) },
});

async function body_of(request) {
  let text = "";
  for await (const piece of request) text += piece;
  return new URLSearchParams(text);
}

async function interact(request, response) {
  const { prompt, params, session, uid } = await provider.interactionDetails(request, response);
  if (prompt.name === "login" && request.method !== "POST") {
    response.writeHead(200, { "Content-Type": "text/html" });
    response.end(
      `<form method="post" action="/interaction/${uid}"><label>Name <input name="login"></label><button>Continue</button></form>`,
    );
    return;
  }
  if (prompt.name === "login") {
    const login = (await body_of(request)).get("login");
    await provider.interactionFinished(request, response, { login: { accountId: login } });
    return;
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope("openid email profile groups");
  const result = { consent: { grantId: await grant.save() } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

const handle = provider.callback();
const server = createServer((request, response) => {
  if (!request.url.startsWith("/interaction/")) return handle(request, response);
  interact(request, response).catch((error) => {
    response.writeHead(500);
    response.end(String(error.stack));
  });
});
server.listen(Number(port), "127.0.0.1", () => process.stdout.write("ready\n"));
