// HTTP/1.1: asks for the start page and what it leads to, on one connection as long as the server keeps it.
import type { Connection } from "../connection.ts";
import { beginsWith, type Reconnect, type Target, type TcpProtocol } from "../protocol.ts";
import { encodeRequest, type HttpAnswer, readAnswerTo, request } from "./http-message.ts";
import { learnWebsite } from "./website.ts";

const ANSWER_MS = 3000;
/** Some servers close after each answer: so many connections more is what a page and its picture are worth. */
const MAX_RECONNECTS = 2;

/** Headers, title and well-known pages of a web server; claims of its product and device. @see RFC 9112 */
export const http: TcpProtocol = {
  name: "http",
  ports: [
    80, 81, 443, 591, 593, 631, 1400, 2375, 2376, 2379, 2380, 3000, 3128, 4443, 4848, 5000, 5001, 5357, 5601, 5984, 5985, 5986, 6443, 6983,
    7001, 7070, 7474, 8000, 8001, 8006, 8008, 8009, 8060, 8080, 8081, 8086, 8088, 8089, 8096, 8123, 8200, 8443, 8500, 8834, 8880, 8888,
    9000, 9001, 9080, 9090, 9091, 9200, 9443, 9999, 10_000, 10_250, 10_255, 15_671, 15_672, 16_992, 32_400, 49_152,
  ],
  hello: (target) => encodeRequest(target, "/"),
  alpn: ["h2", "http/1.1"],
  recognise: (bytes) => beginsWith(bytes, "HTTP/1.", "HTTP/0."),
  async learn(first, connection, target, again) {
    const answer = await readAnswerTo(first, connection, ANSWER_MS);
    if (!answer || (!target.isSecure && wantsTls(answer))) return null;
    return learnWebsite(answer, createAsking(answer, { connection, target, again }), target);
  },
};

/** In the words of nginx, Apache and Go: then TLS is tried next, and what is inside it named. */
function wantsTls(answer: HttpAnswer): boolean {
  const words = /plain HTTP request was sent to HTTPS port|speaking plain HTTP to an SSL-enabled|sent an HTTP request to an HTTPS server/i;
  return answer.status === 400 && words.test(answer.body);
}

/** @returns Asks for more of the server; anew where it has closed. */
function createAsking(start: HttpAnswer, peer: { readonly connection: Connection; readonly target: Target; readonly again: Reconnect }) {
  let connection: Connection | null = start.staysOpen ? peer.connection : null;
  let reconnects = 0;
  return async (path: string, message: Uint8Array | string = encodeRequest(peer.target, path)): Promise<HttpAnswer | null> => {
    if (!connection) {
      if (reconnects === MAX_RECONNECTS) return null;
      reconnects += 1;
      connection = await peer.again();
    }
    const answer = connection && (await request(connection, message, ANSWER_MS));
    if (!answer?.staysOpen) {
      connection?.close();
      connection = null;
    }
    return answer;
  };
}
