/** A mailbox up to the password. @see RFC 1939, RFC 2449, RFC 5034 */
import { createLineReader, readSaslPlain, splitCommand } from "../line-reader.ts";
import { REFUSAL_MS, type Service } from "../service.ts";

const capabilities = (isSecret: boolean) => `+OK\r\nCAPA\r\nTOP\r\nUIDL\r\nRESP-CODES\r\nPIPELINING\r\nAUTH-RESP-CODE\r\n${isSecret ? "" : "STLS\r\n"}USER\r\nSASL PLAIN\r\n.\r\n`;

/** Asks for a name and a password, and refuses them. */
export const pop3: Service = (peer, stage) => {
  let username: string | null = null;
  let [isPlainExpected, isSecret] = [false, false];
  peer.send(`+OK ${stage.persona.pop3}\r\n`);
  const refuse = () => peer.later(REFUSAL_MS, () => peer.send("-ERR [AUTH] Authentication failed.\r\n"));
  const plain = (text: string) => {
    const given = readSaslPlain(text);
    if (given) peer.tried(given.username, given.password);
    refuse();
  };
  const says: Readonly<Record<string, (rest: string) => void>> = {
    CAPA: () => peer.send(capabilities(isSecret)),
    STLS() {
      if (isSecret) return peer.send("-ERR TLS is already active.\r\n");
      isSecret = true;
      peer.send("+OK Begin TLS negotiation now.\r\n");
      peer.startTls();
    },
    USER(name) {
      username = name;
      peer.send("+OK\r\n");
    },
    PASS(given) {
      if (username === null) return peer.send("-ERR No username given.\r\n");
      peer.tried(username, given);
      username = null;
      refuse();
    },
    AUTH(rest) {
      const [mechanism = "", initial = ""] = rest.split(" ");
      if (mechanism.toUpperCase() !== "PLAIN") return peer.send("-ERR [AUTH] Unsupported authentication mechanism.\r\n");
      if (initial !== "") return plain(initial);
      isPlainExpected = true;
      peer.send("+ \r\n");
    },
    QUIT: () => peer.end("+OK Logging out\r\n"),
  };
  return createLineReader((line) => {
    if (isPlainExpected) {
      isPlainExpected = false;
      return plain(line);
    }
    const { verb, rest } = splitCommand(line);
    if (Object.hasOwn(says, verb)) says[verb]?.(rest);
    else peer.send("-ERR Unknown command.\r\n");
  });
};
