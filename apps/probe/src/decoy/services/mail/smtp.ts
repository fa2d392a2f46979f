/** A mail server that relays nothing. @see RFC 5321, RFC 4954 */
import { createLineReader, readSaslPlain, splitCommand } from "../line-reader.ts";
import { type Peer, REFUSAL_MS, type Service, withName } from "../service.ts";

const featuresOf = (isSecret: boolean) => ["PIPELINING", "SIZE 10240000", "VRFY", "ETRN", ...(isSecret ? [] : ["STARTTLS"]), "AUTH PLAIN LOGIN", "ENHANCEDSTATUSCODES", "8BITMIME", "DSN", "SMTPUTF8", "CHUNKING"];
const toBase64 = (text: string) => Buffer.from(text).toString("base64");
const fromBase64 = (text: string) => Buffer.from(text, "base64").toString("utf8");

/** Offers authentication and refuses it, as it refuses to relay. */
export const smtp: Service = (peer, stage) => {
  const { hostname } = stage;
  let [isGreeted, isSecret] = [false, false];
  /** What takes the next line, where it is no command. */
  let expected: ((line: string) => void) | null = null;
  peer.send(`220 ${hostname} ${withName(stage.persona.smtp, stage)}\r\n`);
  const authenticate = createAuthentication(peer, (next) => (expected = next));
  const says: Readonly<Record<string, (rest: string) => void>> = {
    HELO() {
      isGreeted = true;
      peer.send(`250 ${hostname}\r\n`);
    },
    EHLO() {
      isGreeted = true;
      const features = featuresOf(isSecret);
      peer.send([hostname, ...features].map((feature, index) => `250${index === features.length ? " " : "-"}${feature}\r\n`).join(""));
    },
    STARTTLS() {
      if (isSecret) return peer.send("554 5.5.1 Error: TLS already active\r\n");
      [isGreeted, isSecret] = [false, true];
      peer.send("220 2.0.0 Ready to start TLS\r\n");
      peer.startTls();
    },
    AUTH: (rest) => (isGreeted ? authenticate(rest) : peer.send("503 5.5.1 Error: send HELO/EHLO first\r\n")),
    MAIL: () => peer.send(isGreeted ? "250 2.1.0 Ok\r\n" : "503 5.5.1 Error: send HELO/EHLO first\r\n"),
    RCPT(rest) {
      const to = /<([^<>]*)>/.exec(rest)?.[1] ?? "";
      peer.reached("command", "", `asked to relay mail to ${to}`);
      peer.send(`554 5.7.1 <${to}>: Relay access denied\r\n`);
    },
    DATA: () => peer.send("503 5.5.1 Error: need RCPT command\r\n"),
    VRFY: (rest) => peer.send(`550 5.1.1 <${rest}>: Recipient address rejected: User unknown in local recipient table\r\n`),
    RSET: () => peer.send("250 2.0.0 Ok\r\n"),
    NOOP: () => peer.send("250 2.0.0 Ok\r\n"),
    QUIT: () => peer.end("221 2.0.0 Bye\r\n"),
  };
  return createLineReader((line) => {
    if (expected) {
      const take = expected;
      expected = null;
      return take(line);
    }
    const { verb, rest } = splitCommand(line);
    if (Object.hasOwn(says, verb)) says[verb]?.(rest);
    else peer.send("502 5.5.2 Error: command not recognized\r\n");
  });
};

function createAuthentication(peer: Peer, expect: (next: (line: string) => void) => void): (rest: string) => void {
  const refuse = () => peer.later(REFUSAL_MS, () => peer.send("535 5.7.8 Error: authentication failed: authentication failure\r\n"));
  const plain = (line: string) => {
    const given = readSaslPlain(line);
    if (!given) return peer.send("501 5.5.2 Error: malformed authentication response\r\n");
    peer.tried(given.username, given.password);
    refuse();
  };
  const password = (username: string) => (line: string) => {
    peer.tried(username, fromBase64(line));
    refuse();
  };
  const username = (line: string) => {
    expect(password(fromBase64(line)));
    peer.send(`334 ${toBase64("Password:")}\r\n`);
  };
  return (rest) => {
    const [mechanism = "", initial = ""] = rest.split(" ");
    if (mechanism.toUpperCase() === "PLAIN") {
      if (initial !== "") return plain(initial);
      expect(plain);
      return peer.send("334 \r\n");
    }
    if (mechanism.toUpperCase() !== "LOGIN") return peer.send("535 5.7.8 Error: authentication failed: no mechanism available\r\n");
    if (initial !== "") return username(initial);
    expect(username);
    peer.send(`334 ${toBase64("Username:")}\r\n`);
  };
}
