// The File Transfer Protocol (RFC 959): greeting, features (RFC 2389), TLS (RFC 4217). Nobody logs in.
import { endsReply, learned, printable, replyText, SHORT_ANSWER_MS, type TcpProtocol, toText } from "../protocol.ts";
import { startTls } from "./mail.ts";

/** Greeting and features, then TLS where it is offered. @see RFC 959, RFC 2389 section 3, RFC 4217 section 4 */
export const ftp: TcpProtocol = {
  name: "ftp",
  ports: [21, 990, 2121],
  alpn: ["ftp"],
  recognise(bytes) {
    const text = toText(bytes, 512);
    if (!/^(?:[24]|[24]2|[24]2[01]|[24]2[01][ -].*)?$/s.test(text)) return "no";
    if (!endsReply(bytes)) return "more";
    return /\bE?SMTP\b/i.test(text) ? "no" : "yes";
  },
  async learn(first, connection, target) {
    const greeting = toText(first);
    connection.send("FEAT\r\n");
    const features = toText(await connection.read(endsReply, SHORT_ANSWER_MS));
    // What does not know the command is no FTP server, whatever it greets with.
    if (!/^(?:211|5\d\d|4\d\d|331)/.test(features) && !/ftp/i.test(greeting)) return null;
    const tls = target.isSecure || !/AUTH (?:TLS|SSL)/i.test(features) ? null : await startTls(connection, "AUTH TLS\r\n", /^234/);
    if (!tls) connection.send("QUIT\r\n");
    return learned(target.isSecure ? "ftps" : "ftp", {
      answers: [{ kind: "ftp", text: replyText(greeting) }], banner: printable(`${greeting}${features}`), tls,
    });
  },
};
