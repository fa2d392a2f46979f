/** A shell with no system behind it, for who was let in with bait: what is typed is recorded, and answered with texts. Nothing is executed, nothing is written but evidence, nothing connects out. */
import type { Transcript } from "../../evidence/transcript.ts";
import type { Peer, Stage } from "../service.ts";
import { answerCommand, createShellState, homeOf, type ShellState } from "./answers.ts";

/** What a shell stands on. */
export interface ShellDeps {
  readonly peer: Pick<Peer, "address" | "gave" | "reached" | "took">;
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
/** Beyond them, empty ones too, the shell says nothing more. */
const MAX_LINES = 300;
/** What is typed at once is answered at once; nobody reads more. */
const MAX_TURN_CHARACTERS = 64 * 1024;
const MAX_PARTS = 16;
/** Where a terminal's own sequence ends. */
const FINAL = /[@-~]/;
const WORD = /"([^"]*)"|'([^']*)'|[^\s"']+/g;

/** Does not begin yet. */
export function createShell({ peer, stage, username, transcript, send, onExit }: ShellDeps): Shell {
  const state = createShellState({ peer, stage, username });
  const output = collectOutput(transcript, send);
  let [line, lines, isEscape, wasReturn, isOver] = ["", 0, false, false, false];
  const say = (text: string) => {
    if (lines <= MAX_LINES && !output.add(text)) isOver = true;
  };
  const endTurn = () => {
    output.flush();
    if (isOver) onExit();
  };
  const prompt = () => say(`${username}@${stage.hostname}:${state.directory === homeOf(username) ? "~" : state.directory}${username === "root" ? "#" : "$"} `);
  const execute = (whole: string): string => {
    if (whole === "" || lines > MAX_LINES) return "";
    peer.reached("command", username, whole);
    // Without a system behind it a pipe is its first part.
    return whole.split(/;|&&|\|\|/, MAX_PARTS).map((part) => runPart(part.trim(), state, { peer, stage })).join("");
  };
  const enter = () => {
    const whole = line.trim();
    line = "";
    lines += 1;
    say("\n");
    if (/^(?:exit|logout|quit)\b/.test(whole)) {
      say("logout\n");
      isOver = true;
      return;
    }
    say(execute(whole));
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
      lines += 1;
      say("^C\n");
      prompt();
    } else if (character === END_OF_INPUT) {
      isOver ||= line === "";
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
      endTurn();
    },
    type(bytes) {
      if (isOver) return;
      const text = bytes.toString("utf8");
      transcript.add("i", text);
      for (const character of text) if (!isOver) typeOne(character);
      endTurn();
    },
    execute(given) {
      const whole = given.slice(0, MAX_LINE);
      lines += 1;
      transcript.add("i", `${whole}\n`);
      const answer = execute(whole);
      transcript.add("o", answer.replaceAll("\n", "\r\n"));
      return answer;
    },
  };
}

/** What one turn says goes out as one. */
function collectOutput(transcript: Transcript, send: (text: string) => void) {
  let said = "";
  return {
    /** @returns Whether somebody may still read it. */
    add(text: string): boolean {
      said += text.replaceAll("\n", "\r\n");
      return said.length <= MAX_TURN_CHARACTERS;
    },
    flush(): void {
      if (said === "") return;
      transcript.add("o", said);
      send(said);
      said = "";
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
  const file = stage.files.begin(peer.address);
  file?.add(Buffer.from(said));
  const kept = file?.end();
  if (kept) peer.gave(kept, name);
  return "";
}
