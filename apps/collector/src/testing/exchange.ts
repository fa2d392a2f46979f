import { Agent, request } from "node:http";

/** What came back, as it came. */
export interface Exchanged {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Connections that stay open: tests make thousands of calls one after the other, and `fetch` takes twice as long for each. */
const agent = new Agent({ keepAlive: true });

/** What the use of a connection fails with that the server has ended. */
const ENDED: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "EPIPE"]);
const TRIES = 5;

/**
 * Makes a call over HTTP, again where the server has ended a connection that was idle just as it was used again, or one whose body still
 * came half a second after its refusal: on a busy machine a client of one megabyte is that slow.
 */
export async function exchange(url: string, sent: Sent, tries = TRIES): Promise<Exchanged> {
  return exchangeOnce(url, sent).catch((error: unknown) => {
    if (error instanceof EndedConnection && tries > 1) return exchange(url, sent, tries - 1);
    throw error;
  });
}

class EndedConnection extends Error {}

function exchangeOnce(url: string, { method, headers, body }: Sent): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const sent = request(url, { method, headers, agent }, (response) => {
      isAnswered = true;
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, headers: headersOf(response.rawHeaders), text: Buffer.concat(chunks).toString() });
      });
    });
    sent.on("error", (error: NodeJS.ErrnoException) => {
      // A refusal may come before all of a body is sent.
      if (!isAnswered) reject(ENDED.has(error.code) ? new EndedConnection(error.message, { cause: error }) : error);
    });
    sent.end(body);
  });
}

/** @param raw Names and values in turns. */
function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < raw.length; at += 2) headers.append(raw[at] ?? "", raw[at + 1] ?? "");
  return headers;
}
