/** Telnet up to the password, and a shell for bait. @see RFC 854, RFC 857, RFC 858 */
import { createTranscript } from "../evidence/transcript.ts";
import { createLineReader } from "./line-reader.ts";
import { type Peer, REFUSAL_MS, type Service, type Stage, withName } from "./service.ts";
import { createShell, type Shell } from "./shell/shell.ts";

const IAC = 255;
const [SUBNEGOTIATION, SUBNEGOTIATION_END, WILL, DONT] = [250, 240, 251, 254] as const;
/** DO ECHO, DO NAWS, WILL ECHO, WILL SUPPRESS GO AHEAD: as BusyBox begins. */
const OPENING = Buffer.from([IAC, 253, 1, IAC, 253, 31, IAC, 251, 1, IAC, 251, 3]);
const MAX_TRIES = 3;

/** Asks for a name and a password, and refuses them, but for bait: that opens a shell. */
export const telnet: Service = (peer, stage) => {
  const { issue, prompt, refused } = stage.persona.telnet;
  let username: string | null = null;
  let tries = 0;
  let isBusy = false;
  let shell: Shell | null = null;
  const withoutOptions = createOptionFilter();
  const greet = () => peer.send(withName(prompt, stage));
  const read = createLineReader((line) => {
    if (isBusy) return;
    if (username === null) {
      if (line.trim() === "") return greet();
      username = line.trim();
      return peer.send("\r\nPassword: ");
    }
    const name = username;
    const isBait = peer.tried(name, line);
    [username, isBusy] = [null, true];
    tries += 1;
    peer.later(REFUSAL_MS, () => {
      if (isBait) return void (shell = openShell(peer, stage, name));
      isBusy = false;
      if (tries >= MAX_TRIES) return peer.end(refused);
      peer.send(refused);
      greet();
    });
  });
  peer.send(OPENING);
  peer.send(withName(issue, stage));
  greet();
  return (bytes) => {
    const text = withoutOptions(bytes);
    if (shell) return shell.type(text);
    // The name is echoed, the password never is.
    if (username === null && !isBusy) peer.send(Buffer.from(text.filter((octet) => octet >= 32 && octet < 127)));
    read(text);
  };
};

function openShell(peer: Peer, stage: Stage, username: string): Shell {
  const transcript = createTranscript(peer.now().getTime(), peer.monotonic, { columns: 80, rows: 24 });
  peer.onEnd(() => peer.recorded(transcript.text()));
  const shell = createShell({ peer, stage, username, transcript, send: peer.send, onExit: () => peer.end() });
  peer.send("\r\n");
  shell.begin();
  return shell;
}

/** Takes commands of telnet out of what is typed, wherever the segments cut them. */
function createOptionFilter(): (bytes: Buffer) => Buffer {
  let state: "text" | "command" | "option" | "inside" | "inside-command" = "text";
  return (bytes) => {
    const text: number[] = [];
    for (const octet of bytes) {
      if (state === "text") {
        if (octet === IAC) state = "command";
        else text.push(octet);
      } else if (state === "command") {
        if (octet === SUBNEGOTIATION) state = "inside";
        else state = octet >= WILL && octet <= DONT ? "option" : "text";
      } else if (state === "option") state = "text";
      else if (state === "inside") state = octet === IAC ? "inside-command" : "inside";
      else state = octet === SUBNEGOTIATION_END ? "text" : "inside";
    }
    return Buffer.from(text);
  };
}
