/** Redis behind a password. @see https://redis.io/docs/latest/develop/reference/protocol-spec/ */
import type { Peer, Service } from "../service.ts";
import { faultOf } from "./redis-commands.ts";

const MAX_WORDS = 64;
const MAX_WORD_BYTES = 16 * 1024;
const MAX_HELD_BYTES = 32 * 1024;
/** What clients say of themselves before they want anything. */
const HARMLESS: ReadonlySet<string> = new Set(["PING", "INFO", "HELLO", "COMMAND", "CLIENT", "ECHO", "SELECT"]);

/** Answers nothing but that a password is needed. */
export const redis: Service = (peer) => {
  let held = Buffer.alloc(0);
  return (bytes) => {
    held = Buffer.concat([held, bytes]);
    for (;;) {
      const read = readCommand(held);
      if (read === null && held.length <= MAX_HELD_BYTES) return;
      if (read === null || read === "bad") return peer.end("-ERR Protocol error: invalid bulk length\r\n");
      held = held.subarray(read.octets);
      if (read.words.length > 0) answer(peer, read.words);
    }
  };
};

/** In the order of Redis 6.0: what there is no such command for is said before a password is wanted. */
function answer(peer: Peer, words: readonly string[]): void {
  const [verb = "", ...rest] = words;
  const name = verb.toUpperCase();
  if (name === "QUIT") return peer.end("+OK\r\n");
  const fault = faultOf(words);
  if (fault === null && name === "AUTH") return answerAuth(peer, rest);
  if (fault === null && name === "HELLO") return answerHello(peer, rest);
  if (!HARMLESS.has(name)) peer.reached("command", "", words.join(" ").slice(0, 256));
  peer.send(fault === null ? "-NOAUTH Authentication required.\r\n" : `-ERR ${fault}\r\n`);
}

function answerAuth(peer: Peer, words: readonly string[]): void {
  if (words.length > 2) return peer.send("-ERR syntax error\r\n");
  const [username = "", given = ""] = words.length === 2 ? words : ["default", ...words];
  refuse(peer, username, given);
}

/** As clients of this decade begin, with their password or without. */
function answerHello(peer: Peer, [version = "", ...options]: readonly string[]): void {
  if (version !== "2" && version !== "3") return peer.send("-NOPROTO unsupported protocol version\r\n");
  for (let at = 0; at < options.length;) {
    const [option = "", first, second] = options.slice(at, at + 3);
    if (option.toUpperCase() === "AUTH" && first !== undefined && second !== undefined) return refuse(peer, first, second);
    if (option.toUpperCase() !== "SETNAME" || first === undefined) return peer.send(`-ERR Syntax error in HELLO option '${option.replaceAll(/[\r\n]/g, " ")}'\r\n`);
    at += 2;
  }
  peer.send("-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time\r\n");
}

function refuse(peer: Peer, username: string, given: string): void {
  peer.tried(username, given);
  peer.send("-WRONGPASS invalid username-password pair\r\n");
}

/** An array of texts, or words in a line. @returns Null while it is not whole. */
function readCommand(bytes: Buffer): { readonly words: readonly string[]; readonly octets: number } | "bad" | null {
  const end = bytes.indexOf("\n");
  if (end < 0) return null;
  const first = bytes.toString("utf8", 0, end).trim();
  if (!first.startsWith("*")) return { words: first.split(/\s+/).filter((word) => word !== ""), octets: end + 1 };
  const count = Number(first.slice(1));
  if (!Number.isInteger(count) || count > MAX_WORDS) return "bad";
  const words: string[] = [];
  let at = end + 1;
  for (let left = count; left > 0; left -= 1) {
    const lineEnd = bytes.indexOf("\n", at);
    if (lineEnd < 0) return null;
    const head = bytes.toString("latin1", at, lineEnd).trim();
    const octets = Number(head.slice(1));
    if (!head.startsWith("$") || !Number.isInteger(octets) || octets < 0 || octets > MAX_WORD_BYTES) return "bad";
    if (bytes.length < lineEnd + 1 + octets + 2) return null;
    words.push(bytes.toString("utf8", lineEnd + 1, lineEnd + 1 + octets));
    at = lineEnd + 1 + octets + 2;
  }
  return { words, octets: at };
}
