import { createHash } from "node:crypto";
import { createSecureServer, createServer as createHttp2Server, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { createServer as createHttpServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTlsServer } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { createCredentials, createTestServers, identifyAt } from "../testing/test-servers.ts";

const { serve, closeAll } = createTestServers();
afterEach(closeAll);

const PICTURE = Buffer.from("a picture that nobody would want to look at for long, but long enough for two lines of Base64");

/** Answers of one server, by their path. */
function page(request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse): void {
  const answer = (status: number, headers: OutgoingHttpHeaders, body: string | Buffer = "") => {
    response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value);
    response.end(body);
  };
  const redirects: Readonly<Record<string, string>> = { "/": "/a", "/a": "b/", "/b/": "/login?next=1" };
  const to = redirects[request.url ?? ""];
  if (to !== undefined) answer(302, { "location": to, "server": "nginx/1.22.1", "set-cookie": "SESSID=1; Path=/" });
  else if (request.url === "/login?next=1") answer(
    200, { "content-type": "text/html" }, '<link rel="shortcut icon" href="img/i.png"><title>Caf&#233; &amp; more</title>',
  );
  else if (request.url === "/img/i.png") answer(200, { "content-type": "image/png" }, PICTURE);
  else answer(404, {}, "no");
}

const texts = [
  { kind: "http-server", text: "nginx/1.22.1" },
  { kind: "http-title", text: "Café & more" },
  { kind: "http-cookie", text: "SESSID=1" },
  { kind: "favicon-mmh3", text: "425723559" },
  { kind: "favicon-sha256", text: createHash("sha256").update(PICTURE).digest("hex") },
  { kind: "favicon-md5", text: createHash("md5").update(PICTURE).digest("hex") },
];

test("a website is followed through its redirects, and its picture is hashed as those do who search by it", async () => {
  const { port, connections } = await serve(() => undefined, () => createHttpServer(page));
  const found = await identifyAt(80, port);
  expect(found).toMatchObject({ service: "http", version: "nginx 1.22.1", texts });
  expect(found?.banner).toContain(`favicon: 425723559 sha256:${texts[4]?.text}`);
  expect(connections()).toBe(1);
});

test("a website that closes after each answer is asked twice more at most", async () => {
  const { port, connections } = await serve(() => undefined, () => createHttpServer((request, response) => {
    response.setHeader("connection", "close");
    page(request, response);
  }));
  expect(await identifyAt(80, port)).toMatchObject({ service: "http", version: "nginx 1.22.1" });
  expect(connections()).toBe(3);
});

test("HTTP/2 is spoken inside TLS and in the clear, and asked the same", async () => {
  const credentials = await createCredentials();
  const answer = (request: Http2ServerRequest, response: Http2ServerResponse) => page(request, response);
  const secure = await serve(() => undefined, () => createSecureServer({ ...credentials, minVersion: "TLSv1.2" }, answer) as never);
  expect(await identifyAt(8443, secure.port)).toMatchObject({
    service: "https", version: "nginx 1.22.1", tls: { alpn: "h2", version: "TLSv1.3", versions: ["TLSv1.3", "TLSv1.2"] },
    texts: [...texts, { kind: "tls-subject", text: "O=Lab,CN=nas.lab.test" }, { kind: "tls-issuer", text: "O=Lab,CN=nas.lab.test" }],
  });
  expect(secure.connections()).toBe(3);
  const clear = await serve(() => undefined, () => createHttp2Server(answer));
  expect(await identifyAt(50_051, clear.port)).toMatchObject({ service: "http", version: "nginx 1.22.1", texts });
});

test("a server that wants none of the protocols offered is asked without", async () => {
  const credentials = await createCredentials();
  const { port } = await serve(
    (socket) => socket.write("* OK Dovecot ready.\r\n"),
    (onConnection) => createTlsServer({ ...credentials, ALPNProtocols: ["other"] }, onConnection),
  );
  expect(await identifyAt(993, port)).toMatchObject({ service: "imaps", version: "Dovecot imapd", tls: { alpn: "" } });
});

test("a server that says in the clear that it wants TLS is named inside it, at any port", async () => {
  const credentials = await createCredentials();
  const secure = createHttpsServer(credentials, page);
  const { port } = await serve((socket) => {
    socket.once("data", (bytes: Buffer) => {
      const isTls = bytes[0] === 22;
      if (isTls) {
        socket.pause();
        socket.unshift(bytes);
        secure.emit("connection", socket);
      } else {
        socket.end("HTTP/1.1 400 Bad Request\r\nServer: nginx\r\nContent-Length: 45\r\n\r\nThe plain HTTP request was sent to HTTPS port");
      }
    });
  });
  expect(await identifyAt(7443, port)).toMatchObject({ service: "https", version: "nginx 1.22.1", tls: { version: "TLSv1.3" } });
});

test("the realm of a server that wants a password is read, and none is tried", async () => {
  const asked: string[] = [];
  const { port } = await serve(() => undefined, () => createHttpServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization ?? ""}`);
    response.writeHead(401, { "www-authenticate": 'Digest qop="auth", realm="AXIS \\"1\\"", nonce="x"' }).end();
  }));
  expect(await identifyAt(80, port)).toMatchObject({
    texts: [{ kind: "http-realm", text: 'AXIS "1"' }], verdicts: { device_type: { value: "camera" } },
  });
  expect(asked).toEqual(["/ ", "/favicon.ico "]);
});
