/** A mailbox up to the password. @see RFC 3501, RFC 4959, RFC 2971 */
import { createLineReader, readSaslPlain } from "../line-reader.ts";
import { REFUSAL_MS, type Service } from "../service.ts";

const capabilities = (isSecret: boolean) => `IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE LITERAL+${isSecret ? "" : " STARTTLS"} AUTH=PLAIN`;
/** A word, or a text in quotation marks. */
const ARGUMENT = /"((?:[^"\\]|\\.)*)"|(\S+)/g;

/** Asks for a name and a password, and refuses them. */
export const imap: Service = (peer, stage) => {
  let plainFor: string | null = null;
  let isSecret = false;
  peer.send(`* OK [CAPABILITY ${capabilities(isSecret)}] ${stage.persona.imap}\r\n`);
  const refuse = (tag: string) => peer.later(REFUSAL_MS, () => peer.send(`${tag} NO [AUTHENTICATIONFAILED] Authentication failed.\r\n`));
  const plain = (tag: string, text: string) => {
    const given = readSaslPlain(text);
    if (given) peer.tried(given.username, given.password);
    refuse(tag);
  };
  const says: Readonly<Record<string, (tag: string, words: readonly string[]) => void>> = {
    CAPABILITY: (tag) => peer.send(`* CAPABILITY ${capabilities(isSecret)}\r\n${tag} OK Pre-login capabilities listed, post-login capabilities have more.\r\n`),
    NOOP: (tag) => peer.send(`${tag} OK NOOP completed.\r\n`),
    ID: (tag) => peer.send(`* ID ("name" "Dovecot")\r\n${tag} OK ID completed.\r\n`),
    LOGIN(tag, [username = "", given = ""]) {
      peer.tried(username, given);
      refuse(tag);
    },
    AUTHENTICATE(tag, [mechanism = "", initial = ""]) {
      if (mechanism.toUpperCase() !== "PLAIN") return peer.send(`${tag} NO [ALERT] Unsupported authentication mechanism.\r\n`);
      if (initial !== "") return plain(tag, initial);
      plainFor = tag;
      peer.send("+ \r\n");
    },
    STARTTLS(tag) {
      if (isSecret) return peer.send(`${tag} BAD TLS is already active.\r\n`);
      isSecret = true;
      peer.send(`${tag} OK Begin TLS negotiation now.\r\n`);
      peer.startTls();
    },
    LOGOUT: (tag) => peer.end(`* BYE Logging out\r\n${tag} OK Logout completed.\r\n`),
  };
  return createLineReader((line) => {
    if (plainFor !== null) {
      const tag = plainFor;
      plainFor = null;
      return plain(tag, line);
    }
    const [tag = "*", verb = "", ...words] = [...line.matchAll(ARGUMENT)].map(([, quoted, word]) => quoted?.replaceAll(/\\(.)/g, "$1") ?? word ?? "");
    const known = Object.hasOwn(says, verb.toUpperCase()) ? says[verb.toUpperCase()] : undefined;
    if (known) known(tag, words);
    else peer.send(`${tag} BAD Error in IMAP command received by server.\r\n`);
  });
};
