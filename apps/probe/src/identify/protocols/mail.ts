// SMTP (RFC 5321), POP3 (RFC 1939), IMAP (RFC 3501): greeting, capabilities, and STARTTLS (RFC 3207, RFC 2595).
import type { Claim } from "@lanthorn/fingerprints";
import type { Connection, TlsSession } from "../connection.ts";
import {
  beginsWith, claims, endsLine, endsReply, learned, printable, replyText, SHORT_ANSWER_MS, type TcpProtocol, toText,
} from "../protocol.ts";

const TLS_MS = 4000;

/** Asks for TLS in the protocol's words. @returns Null where the server does not want it. */
export async function startTls(connection: Connection, question: string, isYes: RegExp): Promise<TlsSession | null> {
  connection.send(question);
  const answer = toText(await connection.read(endsLine, SHORT_ANSWER_MS));
  return isYes.test(answer) ? connection.startTls({ timeoutMs: TLS_MS, alpn: [] }) : null;
}

/** Greeting and EHLO, then STARTTLS where it is offered. @see RFC 5321 section 4.1.1.1, RFC 3207 */
export const smtp: TcpProtocol = {
  name: "smtp",
  ports: [25, 465, 587, 2525],
  // FTP begins with 220, too: what says neither ESMTP nor SMTP waits for its answer to EHLO.
  recognise(bytes) {
    const text = toText(bytes, 512);
    if (!/^(?:2|22|220|220[ -].*)?$/s.test(text)) return "no";
    if (!endsReply(bytes)) return "more";
    return /\bE?SMTP\b|mail/i.test(text) && !/\bFTP\b/i.test(text) ? "yes" : "no";
  },
  async learn(first, connection, target) {
    const greeting = replyText(toText(first));
    connection.send("EHLO lanthorn.invalid\r\n");
    const offers = toText(await connection.read(endsReply, SHORT_ANSWER_MS));
    const tls = !target.isSecure && /^250[ -]STARTTLS/im.test(offers) ? await startTls(connection, "STARTTLS\r\n", /^220/) : null;
    if (!tls) connection.send("QUIT\r\n");
    return learned(target.isSecure ? "smtps" : "smtp", {
      answers: [{ kind: "smtp", text: greeting }], banner: printable(`${toText(first)}${offers}`), tls,
    });
  },
};

/** Greeting and CAPA, then STLS where it is offered. @see RFC 2449 section 5, RFC 2595 section 4 */
export const pop3: TcpProtocol = {
  name: "pop3",
  ports: [110, 995],
  alpn: ["pop3"],
  recognise: (bytes) => (beginsWith(bytes, "+OK") === "yes" ? (endsLine(bytes) ? "yes" : "more") : beginsWith(bytes, "+OK")),
  learn: (first, connection, target) => {
    const isWhole = (bytes: Uint8Array) => /\r\n\.\r\n$|^-ERR.*\n/.test(toText(bytes));
    return learnMail(first, connection, target.isSecure, {
      name: "pop3", ask: "CAPA\r\n", isWhole, offer: /^STLS/im, startTls: "STLS\r\n", isYes: /^\+OK/, leave: "QUIT\r\n",
    });
  },
};

/** Greeting and CAPABILITY, then ID and STARTTLS where they are offered. @see RFC 3501 section 6.1.1, RFC 2971 */
export const imap: TcpProtocol = {
  name: "imap",
  ports: [143, 993],
  alpn: ["imap"],
  recognise(bytes) {
    const begun = beginsWith(bytes, "* OK", "* PREAUTH", "* BYE");
    return begun === "yes" && !endsLine(bytes) ? "more" : begun;
  },
  learn: (first, connection, target) => {
    const isWhole = (bytes: Uint8Array) => /^a1 /m.test(toText(bytes));
    return learnMail(first, connection, target.isSecure, {
      name: "imap", ask: "a1 CAPABILITY\r\n", isWhole, offer: /\bSTARTTLS\b/i, startTls: "a2 STARTTLS\r\n", isYes: /^a2 OK/im,
      leave: "a3 LOGOUT\r\n", introduce: 'a4 ID ("name" "Lanthorn")\r\n', mayIntroduce: /\bID\b/,
    });
  },
};

async function learnMail(first: Uint8Array, connection: Connection, isSecure: boolean, words: {
  readonly name: "pop3" | "imap";
  readonly ask: string;
  readonly isWhole: (bytes: Uint8Array) => boolean;
  readonly offer: RegExp;
  readonly startTls: string;
  readonly isYes: RegExp;
  readonly leave: string;
  /** How names are exchanged, and what tells that the server will. */
  readonly introduce?: string;
  readonly mayIntroduce?: RegExp;
}) {
  const greeting = toText(first);
  connection.send(words.ask);
  const offers = toText(await connection.read(words.isWhole, SHORT_ANSWER_MS));
  const named = words.introduce !== undefined && words.mayIntroduce?.test(greeting + offers) === true
    ? await introduce(connection, words.introduce)
    : [];
  const tls = !isSecure && words.offer.test(greeting + offers) ? await startTls(connection, words.startTls, words.isYes) : null;
  if (!tls) connection.send(words.leave);
  return learned(isSecure ? `${words.name}s` : words.name, {
    answers: [{ kind: words.name, text: greeting.trim() }], claims: named, banner: printable(greeting + offers), tls,
  });
}

/** Names and versions are exchanged without a login. @see RFC 2971 section 3.1 */
async function introduce(connection: Connection, question: string): Promise<readonly Claim[]> {
  connection.send(question);
  const answer = toText(await connection.read((bytes) => /^a4 /m.test(toText(bytes)), SHORT_ANSWER_MS));
  const field = (name: string) => new RegExp(`"${name}" "([^"]{1,60})"`, "i").exec(answer)?.[1] ?? "";
  const version = /^v?(\d[\w.]*)/.exec(field("version"))?.[1];
  return version === undefined ? [] : claims("imap-id", 0.9, { version, vendor: field("vendor"), os: field("os") });
}
