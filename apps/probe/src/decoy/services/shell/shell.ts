/** A shell with no system behind it, for who was let in with bait: what is typed is recorded, and answered with texts. Nothing is executed, nothing is written but evidence, nothing connects out. */
import type { Transcript } from "../../evidence/transcript.ts";
import type { Peer, Stage } from "../service.ts";
import { answerCommand, homeOf, type ShellState } from "./answers.ts";

/** What a shell stands on. */
export interface ShellDeps {
  readonly peer: Pick<Peer, "gave" | "reached">;
  readonly stage: Stage;
  readonly username: string;
  readonly transcript: Transcript;
  readonly send: (text: string) => void;
  /** The shell was left. */
  readonly onExit: () => void;
}

/** A session in it. */
export interface Shell {
  /** Greets and prompts. */
  begin(): void;
  /** What was typed, at a terminal. */
  type(bytes: Buffer): void;
  /** One line without a terminal. @returns What it says. */
  execute(line: string): string;
}

const [BACKSPACE, DELETE, INTERRUPT, END_OF_INPUT, ESCAPE] = ["\b", "\u007f", "\u0003", "\u0004", "\u001b"];
const MAX_LINE = 1024;
/** Beyond them the shell says nothing more. */
const MAX_COMMANDS = 300;
const MAX_PARTS = 16;
/** Where a terminal's own sequence ends. */
const FINAL = /[@-~]/;
const WORD = /"([^"]*)"|'([^']*)'|[^\s"']+/g;

/** Does not begin yet. */
export function createShell({ peer, stage, username, transcript, send, onExit }: ShellDeps): Shell {
  const state: ShellState = { username, directory: homeOf(username), stage };
  let [line, commands, isEscape, wasReturn] = ["", 0, false, false];
  const say = (text: string) => {
    const shown = text.replaceAll("\n", "\r\n");
    transcript.add("o", shown);
    send(shown);
  };
  const prompt = () => say(`${username}@${stage.hostname}:${state.directory === homeOf(username) ? "~" : state.directory}${username === "root" ? "#" : "$"} `);
  const execute = (whole: string): string => {
    commands += 1;
    if (commands > MAX_COMMANDS) return "";
    peer.reached("command", username, whole);
    // Without a system behind it a pipe is its first part.
    return whole.split(/;|&&|\|\|/, MAX_PARTS).map((part) => runPart(part.trim(), state, { peer, stage })).join("");
  };
  const enter = () => {
    const whole = line.trim();
    line = "";
    say("\n");
    if (/^(?:exit|logout|quit)\b/.test(whole)) {
      say("logout\n");
      return onExit();
    }
    if (whole !== "") say(execute(whole));
    prompt();
  };
  const typeOne = (character: string) => {
    if (isEscape) {
      isEscape = character === "[" || character === "O" || !FINAL.test(character);
    } else if (character === ESCAPE) isEscape = true;
    else if (character === "\r" || character === "\n") {
      if (character === "\r" || !wasReturn) enter();
    } else if (character === BACKSPACE || character === DELETE) {
      if (line === "") return;
      line = line.slice(0, -1);
      say("\b \b");
    } else if (character === INTERRUPT) {
      line = "";
      say("^C\n");
      prompt();
    } else if (character === END_OF_INPUT) {
      if (line === "") onExit();
    } else if (character >= " " && line.length < MAX_LINE) {
      line += character;
      say(character);
    }
    wasReturn = character === "\r";
  };
  return {
    begin() {
      say(`Linux ${stage.hostname} 5.10.0-33-amd64 #1 SMP Debian 5.10.226-1 (2024-10-03) x86_64\n\nThe programs included with the Debian GNU/Linux system are free software;\nthe exact distribution terms for each program are described in the\nindividual files in /usr/share/doc/*/copyright.\n\nDebian GNU/Linux comes with ABSOLUTELY NO WARRANTY, to the extent\npermitted by applicable law.\n`);
      prompt();
    },
    type(bytes) {
      const text = bytes.toString("utf8");
      transcript.add("i", text);
      for (const character of text) typeOne(character);
    },
    execute(whole) {
      transcript.add("i", `${whole}\n`);
      const said = execute(whole);
      transcript.add("o", said.replaceAll("\n", "\r\n"));
      return said;
    },
  };
}

function runPart(part: string, state: ShellState, { peer, stage }: Pick<ShellDeps, "peer" | "stage">): string {
  const [command = "", target] = part.split(/>{1,2}/, 2);
  const words = [...command.matchAll(WORD)].map(([plain, double, single]) => double ?? single ?? plain);
  const pipe = words.indexOf("|");
  if (pipe >= 0) words.length = pipe;
  if (words[0] === "" || words[0] === undefined) return "";
  const said = answerCommand(words, state);
  const name = target?.trim().split(/\s/, 1)[0] ?? "";
  if (name === "" || name.startsWith("/dev/null") || name.startsWith("&")) return name === "" ? said : "";
  const file = stage.files.begin();
  file?.add(Buffer.from(said));
  const kept = file?.end();
  if (kept) peer.gave(kept, name);
  return "";
}
