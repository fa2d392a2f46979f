// Telnet (RFC 854): commands are refused politely until a text comes. Nobody logs in.
import { claims, learned, printable, type TcpProtocol, toText } from "../protocol.ts";

const IAC = 255;
const DO = 253;
const WILL = 251;
const WONT = 252;
const DONT = 254;
const SB = 250;
const SE = 240;
const TEXT_MS = 2000;
const MAX_ROUNDS = 6;
/** Of one round; a greeting of a screen has half of it. */
const MAX_TEXT = 4096;
/** Of one round, more than there are options in use. @see IANA, "Telnet Options" */
const MAX_REFUSALS = 64;
/** A prompt is the last that is said. */
const PROMPT_LENGTH = 64;
const END_OF_SUBNEGOTIATION = Buffer.of(IAC, SE);

/** Options and the text up to a prompt; nobody logs in. @see RFC 854 */
export const telnet: TcpProtocol = {
  name: "telnet",
  ports: [23, 992, 2323],
  recognise: (bytes) => {
    const [first = 0, second = 0] = bytes;
    if (first !== IAC) return "no";
    return bytes.length < 3 ? "more" : second >= SB && second <= DONT ? "yes" : "no";
  },
  async learn(first, connection, target) {
    let text = "";
    let bytes = first;
    for (let round = 0; round < MAX_ROUNDS && bytes.length > 0; round += 1) {
      const parted = splitCommands(bytes);
      text += toText(parted.text);
      if (parted.refusals.length > 0) connection.send(parted.refusals);
      if (isPrompt(text)) break;
      bytes = await connection.read(hasSomethingToSay, TEXT_MS);
    }
    // DO TERMINAL-TYPE, TERMINAL-SPEED, X-DISPLAY-LOCATION, NEW-ENVIRON at once is how the telnetd of Linux's distributions begins.
    const isLinux = Buffer.from(first).includes(Buffer.from([IAC, DO, 24, IAC, DO, 32, IAC, DO, 35, IAC, DO, 39]));
    return learned(target.isSecure ? "telnets" : "telnet", {
      claims: claims("telnet-options", 0.7, isLinux ? { product: "Linux telnetd", os: "Linux" } : {}), answers: [{ kind: "telnet", text }],
      banner: printable(text),
    });
  },
};

function isPrompt(text: string): boolean {
  return /(?:login|user ?name|password|user|[>#$])[: ]*$/i.test(text.slice(-PROMPT_LENGTH).trimEnd());
}

/** Whether there is a text or something to refuse: what costs no more than to look at the first of it. */
function hasSomethingToSay(bytes: Uint8Array): boolean {
  const { text, refusals } = splitCommands(bytes, { maxText: 1, maxRefusals: 1 });
  return text.length > 0 || refusals.length > 0;
}

/**
 * Parts text from commands, in one pass.
 * @param limits How much of each is wanted; it goes no further than that, 4096 bytes and 64 refusals unless given.
 * @returns For each DO a WONT and for each WILL a DONT.
 */
export function splitCommands(
  bytes: Uint8Array, limits: { readonly maxText: number; readonly maxRefusals: number } = { maxText: MAX_TEXT, maxRefusals: MAX_REFUSALS },
): { readonly text: Uint8Array; readonly refusals: Uint8Array } {
  const text: number[] = [];
  const refusals: number[] = [];
  let at = 0;
  while (at < bytes.length && text.length < limits.maxText && refusals.length < 3 * limits.maxRefusals) {
    const byte = bytes[at] ?? 0;
    const command = bytes[at + 1] ?? 0;
    if (byte !== IAC) {
      if (byte !== 0) text.push(byte);
      at += 1;
    } else if (command === DO || command === WILL || command === WONT || command === DONT) {
      if (command === DO || command === WILL) refusals.push(IAC, command === DO ? WONT : DONT, bytes[at + 2] ?? 0);
      at += 3;
    } else if (command === SB) {
      const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(END_OF_SUBNEGOTIATION, at + 2);
      at = end === -1 ? bytes.length : end + 2;
    } else {
      if (command === IAC) text.push(IAC);
      at += 2;
    }
  }
  return { text: Uint8Array.from(text), refusals: Uint8Array.from(refusals) };
}
