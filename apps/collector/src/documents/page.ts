/**
 * The page around Swagger UI. It holds nothing of the deployment and so needs no credentials; the document that it shows
 * does, and the script asks for them.
 */
export function documentPage(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="/api/docs/assets/swagger-ui.css">
<link rel="stylesheet" href="/api/docs/assets/page.css">
</head>
<body>
<form id="sign-in" hidden>
<h1>${title}</h1>
<p>The document is for who has credentials.</p>
<label>User name <input id="username" autocomplete="username"></label>
<label>Password <input id="password" type="password" autocomplete="current-password"></label>
<p>or</p>
<label>Access token <input id="token" type="password" autocomplete="off"></label>
<button>Show the document</button>
<p id="refusal" role="alert"></p>
</form>
<div id="document"></div>
<script src="/api/docs/assets/swagger-ui-bundle.js"></script>
<script src="/api/docs/assets/page.js"></script>
</body>
</html>
`;
}

/** CSS of the sign-in form. Swagger UI brings its own. */
export const PAGE_STYLE = `#sign-in { max-width: 24rem; margin: 4rem auto; font: 1rem/1.5 sans-serif; }
#sign-in label { display: block; margin: 0.5rem 0; }
#sign-in input { width: 100%; box-sizing: border-box; font: inherit; padding: 0.25rem; }
#sign-in button { font: inherit; padding: 0.25rem 1rem; margin-top: 0.5rem; }
#refusal { color: #a00; }
`;

/** The token stays in the page's memory: a reload asks again. */
export const PAGE_SCRIPT = `"use strict";
const form = document.getElementById("sign-in");
const refusal = document.getElementById("refusal");
const address = location.pathname.replace(/\\/+$/, "") + "/openapi.json";
let token = "";

const headers = () => (token === "" ? {} : { authorization: "Bearer " + token });

async function messageOf(response) {
  const body = await response.json().catch(() => null);
  return (body && body.error && body.error.message) || "status " + response.status;
}

async function show() {
  const response = await fetch(address, { headers: headers() });
  if (!response.ok) {
    form.hidden = false;
    if (token !== "" || response.status !== 401) refusal.textContent = await messageOf(response);
    return;
  }
  form.hidden = true;
  const ui = SwaggerUIBundle({
    spec: await response.json(),
    domNode: document.getElementById("document"),
    deepLinking: true,
    validatorUrl: null,
    onComplete: () => {
      if (token !== "") ui.preauthorizeApiKey("bearer", token);
    },
  });
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  refusal.textContent = "";
  const value = (id) => document.getElementById(id).value;
  token = value("token").trim();
  if (token === "") {
    const response = await fetch("/api/auth/login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username: value("username"), password: value("password") }),
    });
    if (!response.ok) {
      refusal.textContent = await messageOf(response);
      return;
    }
    token = (await response.json()).access_token;
  }
  await show();
});

show();
`;
