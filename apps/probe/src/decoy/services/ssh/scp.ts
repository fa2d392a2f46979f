/** The old protocol of scp for who was let in with bait: what is sent is kept as evidence, and documents are given. @see scp.c of OpenSSH, sink() and source() */
import type { ServerChannel } from "ssh2";
import { type ComingFile, MAX_FILE_BYTES } from "../../evidence/file-store.ts";
import { contentAt, createShellState, type FoundFile, isListed, namesAt, resolvePath, type ShellState } from "../shell/answers.ts";
import { expandGlob } from "../shell/globs.ts";
import { createBoundedSend } from "./bounded-send.ts";
import type { SftpGuest } from "./sftp.ts";

const [DONE, PROBLEM, LINE_END] = ["\0", "\u0001", 10] as const;
const MAX_LINE = 1024;
const MAX_FILES = 64;
/** Each is answered: two for each file, and as many for folders. */
const MAX_LINES = 256;
/** As `C0644 12 name`. */
const FILE_LINE = /^C[0-7]{4} (\d{1,15}) ([^/]{1,255})$/;

/** @param command As it is given to a shell. @returns Its mode and paths, of which a sink has one; null where it is not scp's other side. */
export function readScpCommand(command: string): ScpCommand | null {
  const [name, ...words] = command.trim().split(/\s+/, 16);
  if (name !== "scp") return null;
  const flags = words.filter((word) => /^-\w+$/.test(word)).join("");
  const isSink = flags.includes("t");
  const paths = words.filter((word) => !word.startsWith("-")).map((word) => word.replaceAll(/['"]/g, "")).slice(isSink ? -1 : 0);
  return /[tf]/.test(flags) ? { isSink, paths: paths.length === 0 ? ["."] : paths } : null;
}

/** What scp asked its other side for. */
interface ScpCommand {
  /** It takes files; otherwise it gives them. */
  readonly isSink: boolean;
  /** As they were given, patterns too. */
  readonly paths: readonly string[];
}

/** One side of it. */
interface ScpSession {
  readonly paths: ScpCommand["paths"];
  readonly place: ShellState;
  readonly guest: SftpGuest;
  readonly send: (data: string | Uint8Array) => void;
  readonly leave: (code: number) => void;
  /** It was left: nothing that comes is read. */
  readonly isOver: () => boolean;
}

/** Serves it until it ends. */
export function serveScp(channel: ServerChannel, { isSink, paths }: ScpCommand, guest: SftpGuest): void {
  let isOver = false;
  const leave = (code: number) => {
    if (isOver) return;
    isOver = true;
    channel.exit(code);
    channel.end();
  };
  channel.on("error", () => void (isOver = true));
  (isSink ? receive : give)(channel, { paths, place: createShellState(guest), guest, leave, send: createBoundedSend(channel, guest.peer), isOver: () => isOver });
}

function give(channel: ServerChannel, { paths, place, guest, send, leave, isOver }: ScpSession): void {
  const wanted = paths.flatMap((path) => expandGlob(path, place)).slice(0, MAX_FILES);
  let [code, coming]: [number, FoundFile | null] = [0, null];
  const begin = () => {
    while (wanted.length > 0 && !isOver()) {
      const path = wanted.shift() ?? "";
      const whole = resolvePath(path, place);
      coming = contentAt(whole, place);
      if (coming) return send(`C0644 ${coming.content.length} ${whole.slice(whole.lastIndexOf("/") + 1)}\n`);
      // The client does not answer to it.
      code = 1;
      send(`${PROBLEM}scp: ${path}: ${namesAt(whole, place) ? "not a regular file" : isListed(whole, place) ? "Permission denied" : "No such file or directory"}\n`);
    }
    leave(code);
  };
  const goOn = () => {
    if (!coming) return begin();
    const { content, document } = coming;
    coming = null;
    if (document) guest.peer.took(document, guest.username);
    send(Buffer.concat([content, Buffer.alloc(1)]));
  };
  channel.on("data", (bytes: Buffer) => {
    // Each zero asks for what is next.
    for (const octet of bytes.subarray(0, MAX_FILES)) if (octet === 0 && !isOver()) goOn();
  });
}

function receive(channel: ServerChannel, { paths: [path = "."], place, guest, send, leave, isOver }: ScpSession): void {
  const target = resolvePath(path, place);
  let [line, left, lines, files] = [[] as number[], -1, 0, 0];
  let [coming, name, isWhole]: [ComingFile | null, string, boolean] = [null, "", true];
  const full = () => `${PROBLEM}scp: ${name}: No space left on device\n`;
  const finish = () => {
    const kept = coming?.end();
    coming = null;
    if (kept) guest.peer.gave(kept, name);
  };
  const readLine = (text: string) => {
    lines += 1;
    if (lines > MAX_LINES) return leave(1);
    const [, digits, own = ""] = FILE_LINE.exec(text) ?? [];
    if (digits === undefined) {
      if (/^[TDE]/.test(text)) send(DONE);
      else leave(1);
      return;
    }
    name = namesAt(target, place) ? `${target === "/" ? "" : target}/${own}` : target;
    guest.peer.reached("command", guest.username, `scp: wrote ${name}`);
    files += 1;
    const isTaken = files <= MAX_FILES && Number(digits) <= MAX_FILE_BYTES;
    if (isTaken) left = Number(digits);
    send(isTaken ? DONE : full());
  };
  channel.on("data", (bytes: Buffer) => {
    for (let at = 0; at < bytes.length && !isOver();) {
      if (left > 0) {
        const part = bytes.subarray(at, at + left);
        coming ??= guest.stage.files.begin(guest.peer.address);
        isWhole = coming?.add(part) === true && isWhole;
        left -= part.length;
        at += part.length;
        continue;
      }
      const octet = bytes[at] ?? 0;
      at += 1;
      if (left === 0) {
        // The zero behind the file.
        left = -1;
        finish();
        send(isWhole ? DONE : full());
        isWhole = true;
      } else if (octet === LINE_END) readLine(Buffer.from(line.splice(0)).toString("utf8"));
      else if (line.length < MAX_LINE) line.push(octet);
      else return leave(1);
    }
  });
  channel.on("end", () => {
    finish();
    leave(0);
  });
  channel.on("error", finish);
  guest.peer.onEnd(finish);
  send(DONE);
}
