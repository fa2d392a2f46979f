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

/** Makes a call over HTTP, once more where the server has ended a connection that was idle just as it was used again. */
export async function exchange(url: string, sent: Sent): Promise<Exchanged> {
  return exchangeOnce(url, sent).catch((error: unknown) => {
    if (error instanceof StaleConnection) return exchangeOnce(url, sent);
    throw error;
  });
}

class StaleConnection extends Error {}

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
      if (!isAnswered) reject(sent.reusedSocket && error.code === "ECONNRESET" ? new StaleConnection() : error);
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
