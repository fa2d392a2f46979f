/** Shells of SSH for who was let in with bait. @see RFC 4254 sections 6 and 7 */
import type { Connection, ServerChannel, Session } from "ssh2";
import { createTranscript } from "../../evidence/transcript.ts";
import type { Peer, Stage } from "../service.ts";
import { createShell } from "../shell/shell.ts";

interface Guest {
  readonly peer: Peer;
  readonly stage: Stage;
  readonly username: string;
}

/** MaxSessions. */
const MAX_CHANNELS = 10;
const MAX_SIZE = 500;

/** Serves shells and commands; forwarding and files are reported and refused. Nothing connects out. */
export function serveShells(client: Connection, guest: Guest): void {
  const { peer, username } = guest;
  let channels = 0;
  client.on("session", (accept, reject) => {
    channels += 1;
    if (channels > MAX_CHANNELS) reject();
    else serveSession(accept(), guest);
  });
  client.on("tcpip", (_, reject, { destIP, destPort }) => {
    peer.reached("command", username, `asked to be forwarded to ${destIP} port ${destPort}`);
    reject();
  });
  client.on("request", (_, reject, name) => {
    peer.reached("command", username, `asked for ${name}`);
    reject?.();
  });
}

function serveSession(session: Session, guest: Guest): void {
  const { peer, username } = guest;
  let size = { columns: 80, rows: 24 };
  session.on("pty", (accept, _, { cols, rows }) => {
    size = { columns: Math.min(MAX_SIZE, cols || 80), rows: Math.min(MAX_SIZE, rows || 24) };
    accept?.();
  });
  session.on("env", (accept) => accept?.());
  session.on("window-change", (accept) => accept?.());
  session.on("shell", (accept) => {
    const { shell } = open(accept(), guest, size);
    shell.begin();
  });
  session.on("exec", (accept, _, { command }) => {
    const { channel, shell } = open(accept(), guest, size);
    channel.write(shell.execute(command));
    channel.exit(0);
    channel.end();
  });
  session.on("sftp", (_, reject) => {
    peer.reached("command", username, "asked for sftp");
    reject();
  });
}

function open(channel: ServerChannel, { peer, stage, username }: Guest, size: { readonly columns: number; readonly rows: number }) {
  const transcript = createTranscript(peer.now().getTime(), peer.monotonic, size);
  let isOpen = true;
  const finish = () => {
    if (!isOpen) return;
    isOpen = false;
    peer.recorded(transcript.text());
  };
  channel.on("close", finish);
  channel.on("error", finish);
  peer.onEnd(finish);
  const shell = createShell({
    peer, stage, username, transcript, send: (text) => void channel.write(text),
    onExit() {
      channel.exit(0);
      channel.end();
    },
  });
  channel.on("data", (bytes: Buffer) => shell.type(bytes));
  return { channel, shell };
}
