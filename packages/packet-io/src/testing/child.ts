import { scenarios } from "./scenarios.ts";

const scenario = scenarios[process.argv[2] ?? ""];
if (!scenario) throw new Error(`no scenario ${process.argv[2]}`);
process.stdout.write(`${JSON.stringify(await scenario())}\n`);
// A closed capture of a quiet interface keeps the process alive until the next frame.
process.exit(0);
