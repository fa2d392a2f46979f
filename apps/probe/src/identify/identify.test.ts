import { createSocket } from "node:dgram";
import type { Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { identifyService } from "./identify.ts";
import { TCP_PROTOCOLS, UDP_PROTOCOLS } from "./protocols.ts";
import { createCredentials, createTestServers, type Credentials, identifyAt } from "./testing/test-servers.ts";

const { serve, later, closeAll } = createTestServers();
afterEach(closeAll);

const never = new AbortController().signal;
const random = () => 0.5;

describe("a service over TCP", () => {
  test("that greets is named from its greeting, on one connection, wherever it is", async () => {
    const { port, connections } = await serve((socket) => socket.write("220 (vsFTPd 3.0.3)\r\n"));
    expect(await identifyAt(40_021, port)).toMatchObject({
      service: "ftp", version: "vsftpd 3.0.3", banner: "220 (vsFTPd 3.0.3)",
      verdicts: { cpe: { value: "cpe:2.3:a:vsftpd_project:vsftpd:3.0.3:*:*:*:*:*:*:*" } },
    });
    expect(connections()).toBe(1);
  });

  test("that answers HTTP is named from its headers and title, also where it was not expected", async () => {
    const { port, connections } = await serve((socket) => socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nContent-Length: 31\r\n\r\n<title>Synology  Disk</title>...");
    }));
    const found = await identifyAt(12_345, port);
    expect(found).toMatchObject({
      service: "http", version: "nginx 1.22.1", verdicts: { device_type: { value: "server", source: "http-title" } },
    });
    expect(found?.banner).toContain("title: Synology Disk");
    expect(connections()).toBe(1);
  });

  test("is followed to where it sends its visitors, on its own host only", async () => {
    const asked: string[] = [];
    const { port } = await serve((socket) => socket.on("data", (bytes: Buffer) => {
      const path = /^GET (\S+)/.exec(bytes.toString())?.[1] ?? "";
      asked.push(path);
      if (path === "/") socket.write(`HTTP/1.1 302 Found\r\nLocation: ${asked.length > 5 ? "" : "/login"}\r\nContent-Length: 0\r\n\r\n`);
      else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n<title>FRITZ!Box 7590</title>.");
    }));
    expect(await identifyAt(80, port)).toMatchObject({ verdicts: { vendor: { value: "AVM" }, device_type: { value: "router" } } });
    expect(asked).toEqual(["/", "/login", "/favicon.ico"]);
    const elsewhere = await serve(
      (socket) => socket.on("data", () => socket.write("HTTP/1.1 302 Found\r\nLocation: http://example.com/\r\nContent-Length: 0\r\n\r\n")),
    );
    expect(await identifyAt(80, elsewhere.port)).toMatchObject({ service: "http" });
  });

  test("that says nothing, hangs up, talks without end or slowly is left in bounded time and memory, "
    + "with few connections", async () => {
    const manners: readonly ((socket: Socket) => void)[] = [
      () => undefined,
      (socket) => socket.destroy(),
      (socket) => {
        const flood = () => {
          while (!socket.destroyed && socket.write(Buffer.alloc(65_536, "A"))) continue;
        };
        socket.on("drain", flood);
        flood();
      },
      (socket) => {
        const timer = setInterval(() => socket.write("A"), 50);
        socket.on("close", () => clearInterval(timer));
      },
      (socket) => socket.on("data", (bytes) => socket.write(bytes)),
    ];
    await Promise.all(manners.map(async (manner) => {
      const { port, connections } = await serve(manner);
      const startedAt = performance.now();
      const found = await identifyAt(7777, port);
      expect(["", "echo"]).toContain(found?.service ?? "");
      expect(performance.now() - startedAt).toBeLessThan(120_000);
      expect(connections()).toBeLessThanOrEqual(6);
    }));
  });

  test("is left at once when it is aborted", async () => {
    const { port } = await serve(() => undefined);
    const stop = new AbortController();
    // No time passes: it does not wait until the service has been silent for long enough.
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] });
    try {
      const found = identifyAt(22, port, stop.signal);
      stop.abort();
      expect(await found).toBe(null);
    } finally {
      vi.useRealTimers();
    }
  });

  test("at a print port is never connected to", async () => {
    const { port, connections } = await serve(() => undefined);
    for (const print of [9100, 9107, 515]) await identifyAt(print, port);
    expect(connections()).toBe(0);
  });
});

describe("a service inside TLS", () => {
  let credentials: Credentials;
  beforeAll(async () => {
    credentials = await createCredentials();
  });

  test("is named as without it, with the certificate's fingerprint as a key", async () => {
    const { port } = await serve(
      (socket) => socket.write("* OK [CAPABILITY IMAP4rev1] Dovecot (Debian) ready.\r\n"),
      (onConnection) => createTlsServer(credentials, onConnection),
    );
    const found = await identifyAt(993, port);
    expect(found).toMatchObject({
      service: "imaps", version: "Dovecot imapd", tls: { version: "TLSv1.3", certificate: { subject: "CN=nas.lab.test,O=Lab" } },
    });
    expect(found?.keys).toEqual([{ field: "tls_certificate", value: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown, source: "tls" }]);
  });

  test("that begins with STARTTLS shows its certificate, too", async () => {
    const { port } = await serve((socket) => {
      socket.write("220 mx.lab.test ESMTP Postfix (Debian/GNU)\r\n");
      socket.on("data", (bytes: Buffer) => {
        if (bytes.toString().startsWith("EHLO")) socket.write("250-mx.lab.test\r\n250 STARTTLS\r\n");
        if (!bytes.toString().startsWith("STARTTLS")) return;
        socket.removeAllListeners("data");
        socket.write("220 ready\r\n", () => {
          const secure = createTlsServer(credentials);
          secure.on("tlsClientError", () => undefined);
          secure.emit("connection", socket);
        });
      });
    });
    expect(await identifyAt(25, port)).toMatchObject({
      service: "smtp", version: "Postfix smtpd", tls: { certificate: { commonName: "nas.lab.test" } },
      verdicts: { os: { value: "Debian" } },
    });
  });
});

describe("a service over UDP", () => {
  test("is asked at its own port, and only its answer counts", async () => {
    const server = createSocket("udp4");
    server.on("message", (bytes, from) => {
      if (bytes.toString().startsWith("M-SEARCH")) {
        server.send(
          "HTTP/1.1 200 OK\r\nST: upnp:rootdevice\r\nSERVER: Debian DLNADOC/1.50 UPnP/1.0 MiniDLNA/1.3.0\r\n\r\n", from.port, from.address,
        );
      }
    });
    await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve));
    later(() => server.close());
    const { exchangeDatagram } = await import("./datagrams.ts");
    const ask: typeof exchangeDatagram = (target, question, options) =>
      exchangeDatagram({ ...target, port: server.address().port }, question, options);
    expect(await identifyService({ ip: "127.0.0.1", port: 1900, protocol: "udp" }, { random, ask }, never)).toMatchObject({
      service: "upnp", version: "MiniDLNA 1.3.0",
    });
    expect(await identifyService({ ip: "127.0.0.1", port: 9, protocol: "udp" }, { random, ask }, never)).toBe(null);
  });
});

describe("every protocol", () => {
  test("has a question that is its own, or waits for a greeting", () => {
    const names = [...TCP_PROTOCOLS, ...UDP_PROTOCOLS].map((protocol) => protocol.name);
    expect(new Set(names).size).toBeGreaterThan(48);
    for (const protocol of UDP_PROTOCOLS) for (const payload of protocol.payloads) expect(payload(() => 0.5).length).toBeGreaterThan(7);
  });
});
