/** FTP up to the password. @see RFC 959, RFC 2389 */
import { createLineReader, splitCommand } from "./line-reader.ts";
import { REFUSAL_MS, type Service, withName } from "./service.ts";

const LOGIN_FIRST = "530 Please login with USER and PASS.\r\n";
const FEATURES = "211-Features:\r\n EPRT\r\n EPSV\r\n MDTM\r\n PASV\r\n REST STREAM\r\n SIZE\r\n TVFS\r\n UTF8\r\n211 End\r\n";
const MAX_TRIES = 3;

/** Asks for a name and a password, and refuses them. */
export const ftp: Service = (peer, stage) => {
  const { greeting, family } = stage.persona.ftp;
  let username: string | null = null;
  let tries = 0;
  peer.send(`220 ${withName(greeting, stage)}\r\n`);
  const refuse = () => {
    const text = family === "vsftpd" ? "530 Login incorrect.\r\n" : "530 Login incorrect.\r\n421 Service not available, closing control connection.\r\n";
    tries += 1;
    if (tries >= MAX_TRIES || family === "plain") peer.end(text);
    else peer.send(text);
  };
  const says: Readonly<Record<string, (rest: string) => void>> = {
    USER(name) {
      username = name;
      peer.send("331 Please specify the password.\r\n");
    },
    PASS(given) {
      if (username === null) return peer.send("503 Login with USER first.\r\n");
      peer.tried(username, given);
      username = null;
      peer.later(REFUSAL_MS, refuse);
    },
    FEAT: () => peer.send(family === "vsftpd" ? FEATURES : LOGIN_FIRST),
    OPTS: (rest) => peer.send(family === "vsftpd" && rest.toUpperCase() === "UTF8 ON" ? "200 Always in UTF8 mode.\r\n" : LOGIN_FIRST),
    QUIT: () => peer.end("221 Goodbye.\r\n"),
  };
  return createLineReader((line) => {
    const { verb, rest } = splitCommand(line);
    if (Object.hasOwn(says, verb)) says[verb]?.(rest);
    else peer.send(LOGIN_FIRST);
  });
};
