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
const MOST_ROUNDS = 6;

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
    for (let round = 0; round < MOST_ROUNDS && bytes.length > 0; round += 1) {
      const parted = splitCommands(bytes);
      text += toText(parted.text);
      if (parted.refusals.length > 0) connection.send(parted.refusals);
      if (/(?:login|user ?name|password|user|>|#|\$)[: ]*\s*$/i.test(text)) break;
      bytes = await connection.read((more) => splitCommands(more).text.length > 0 || splitCommands(more).refusals.length > 0, TEXT_MS);
    }
    // DO TERMINAL-TYPE, TERMINAL-SPEED, X-DISPLAY-LOCATION, NEW-ENVIRON at once is how the telnetd of Linux's distributions begins.
    const isLinux = Buffer.from(first).includes(Buffer.from([IAC, DO, 24, IAC, DO, 32, IAC, DO, 35, IAC, DO, 39]));
    return learned(target.isSecure ? "telnets" : "telnet", {
      claims: claims("telnet-options", 0.7, isLinux ? { product: "Linux telnetd", os: "Linux" } : {}), answers: [{ kind: "telnet", text }],
      banner: printable(text),
    });
  },
};

/** Parts text from commands. @returns For each DO a WONT and for each WILL a DONT. */
export function splitCommands(bytes: Uint8Array): { readonly text: Uint8Array; readonly refusals: Uint8Array } {
  const text: number[] = [];
  const refusals: number[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    const [byte = 0, command = 0, option = 0] = bytes.subarray(at, at + 3);
    if (byte !== IAC) {
      if (byte !== 0) text.push(byte);
    } else if (command === DO || command === WILL || command === WONT || command === DONT) {
      if (command === DO) refusals.push(IAC, WONT, option);
      if (command === WILL) refusals.push(IAC, DONT, option);
      at += 2;
    } else if (command === SB) {
      while (at < bytes.length && !(bytes[at] === IAC && bytes[at + 1] === SE)) at += 1;
      at += 1;
    } else {
      if (command === IAC) text.push(IAC);
      at += 1;
    }
  }
  return { text: Uint8Array.from(text), refusals: Uint8Array.from(refusals) };
}
