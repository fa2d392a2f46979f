// HTTP/2, inside TLS or in the clear with prior knowledge: the same questions as over HTTP/1.1, on one connection.
// @see RFC 9113 sections 3.3, 3.4 and 4.1
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from "node:http2";
import { Duplex } from "node:stream";
import { systemClock } from "@lanthorn/runtime";
import type { Connection } from "../connection.ts";
import { learned, type Target, type TcpProtocol, toText } from "../protocol.ts";
import { type HttpAnswer, writeHost } from "./http-message.ts";
import { learnWebsite } from "./website.ts";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const SETTINGS = 4;
const FRAME_HEAD = 9;
const ANSWER_MS = 3000;
const MAX_BODY = 128 * 1024;
/** No pushes, and a window as large as the longest page: two settings of six bytes. @see RFC 9113 section 6.5 */
const OWN_SETTINGS = Buffer.from([0, 0, 12, SETTINGS, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 4, 0, MAX_BODY >> 16, 0, 0]);

/** The same of a server that speaks HTTP/2 only. @see RFC 9113 sections 3.3 and 3.4 */
export const http2: TcpProtocol = {
  name: "http2",
  ports: [50_051],
  hello: () => Buffer.concat([PREFACE, OWN_SETTINGS]),
  recognise(bytes) {
    if ((bytes[0] ?? 0) !== 0 || (bytes[1] ?? 0) !== 0) return "no";
    if (bytes.length < FRAME_HEAD) return "more";
    // A frame of settings on stream 0, six bytes for each.
    const isSettings = bytes[3] === SETTINGS && (bytes[2] ?? 1) % 6 === 0 && bytes[4] === 0;
    return isSettings && bytes.subarray(5, FRAME_HEAD).every((byte) => byte === 0) ? "yes" : "no";
  },
  async learn(first, connection, target) {
    const session = openSession(first, connection, target);
    try {
      const ask = (path: string) => askPage(session, path);
      const start = await ask("/");
      if (!start) return learned(target.isSecure ? "https" : "http", { banner: "HTTP/2" });
      // Questions with a body are not asked: they are for printers, which speak HTTP/1.1.
      return await learnWebsite(start, (path, message) => (message === undefined ? ask(path) : Promise.resolve(null)), target);
    } finally {
      session.destroy();
    }
  },
};

function openSession(first: Uint8Array, connection: Connection, target: Target): ClientHttp2Session {
  const session = connect(`${target.isSecure ? "https" : "http"}://${writeHost(target)}`, {
    createConnection: () => createStream(first, connection), maxSessionMemory: 1,
    settings: { enablePush: false, initialWindowSize: MAX_BODY },
  });
  session.on("error", () => undefined);
  return session;
}

/**
 * The connection as a stream, which begins with what was received already. The preface and the first settings were sent with the hello;
 * sent again, the settings would be acknowledged twice, which ends the session.
 */
function createStream(first: Uint8Array, connection: Connection): Duplex {
  let begun = Buffer.alloc(0);
  let isPastSettings = false;
  let isEnded = false;
  const stream = new Duplex({
    read() {
      void readOn();
    },
    write(chunk: Buffer, _encoding, done) {
      if (isPastSettings) {
        connection.send(chunk);
      } else {
        begun = Buffer.concat([begun, chunk]);
        const end = PREFACE.length + FRAME_HEAD + (begun.length >= PREFACE.length + 3 ? begun.readUIntBE(PREFACE.length, 3) : 0);
        isPastSettings = begun.length >= end;
        if (begun.length > end) connection.send(begun.subarray(end));
      }
      done();
    },
    destroy(_error, done) {
      isEnded = true;
      connection.close();
      done(null);
    },
  });
  const readOn = async () => {
    const bytes = await connection.read(() => true, ANSWER_MS);
    if (!isEnded) stream.push(bytes.length === 0 ? null : bytes);
    isEnded ||= bytes.length === 0;
  };
  stream.on("error", () => undefined);
  stream.push(first);
  return stream;
}

function askPage(session: ClientHttp2Session, path: string): Promise<HttpAnswer | null> {
  if (session.closed || session.destroyed) return Promise.resolve(null);
  return new Promise((resolve) => {
    const stream = session.request({ ":path": path, "user-agent": "Mozilla/5.0 (compatible; Lanthorn)", "accept": "*/*" });
    const chunks: Buffer[] = [];
    let size = 0;
    let headers: IncomingHttpHeaders | null = null;
    const finish = () => {
      cancelTimeout();
      stream.destroy();
      resolve(headers && toAnswer(headers, Buffer.concat(chunks)));
    };
    const cancelTimeout = systemClock.after(ANSWER_MS, finish);
    stream.on("response", (received) => (headers = received));
    stream.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY) chunks.push(chunk);
      else finish();
    });
    stream.on("end", finish);
    stream.on("error", finish);
    stream.on("close", finish);
    stream.end();
  });
}

function toAnswer(received: IncomingHttpHeaders, bytes: Uint8Array): HttpAnswer {
  const status = Number(received[":status"]);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(received).slice(0, 100)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (!name.startsWith(":") && typeof first === "string") headers[name] = first;
  }
  return { status, statusLine: `HTTP/2 ${status}`, headers, bytes, body: toText(bytes, MAX_BODY), staysOpen: true };
}
