import { checkRecogExamples, createRecogDatabase, readRecogFolder } from "@lanthorn/fingerprints/recog";

const SECONDS = 3;
const WRONG_SHOWN = 20;

/**
 * Asks a folder of Recog databases for their own examples: each text goes to its whole database, and the first fingerprint that matches
 * must answer everything that the example names. Then how many texts a second are answered, all databases in turn.
 */
export async function run(args: readonly string[]): Promise<void> {
  const [folder, ...others] = args;
  if (folder === undefined || others.length > 0) throw new Error("recog takes one argument: a folder of Recog's .xml files");
  const files = readRecogFolder(folder);
  const reports = files.map((file) => ({ file, report: checkRecogExamples(file) }));
  for (const { file, report } of reports) {
    console.log(`${file.matches.padEnd(24)} ${report.fingerprints} fingerprints, ${report.right} of ${report.examples} examples right`);
    for (const { pattern, reason } of report.refused) console.log(`  refused: ${reason}: ${pattern}`);
  }
  for (const wrong of reports.flatMap(({ report }) => report.wrong).slice(0, WRONG_SHOWN)) {
    console.log(`  wrong: ${wrong.matches}: ${wrong.description}: ${wrong.reason}: ${JSON.stringify(wrong.text.slice(0, 200))}`);
  }
  const sum = (count: (report: (typeof reports)[number]["report"]) => number) =>
    reports.reduce((total, { report }) => total + count(report), 0);
  console.log(JSON.stringify({
    bench: "recog",
    fingerprints: sum((report) => report.fingerprints),
    examples: sum((report) => report.examples),
    right: sum((report) => report.right),
    wrong: sum((report) => report.wrong.length),
    refused: sum((report) => report.refused.length),
    missing: sum((report) => report.missing),
    matches_per_second: measure(files),
  }));
}

function measure(files: ReturnType<typeof readRecogFolder>): number {
  const work = files.map((file) => {
    const texts = file.fingerprints.flatMap((fingerprint) => fingerprint.examples.flatMap(({ text }) => (text === null ? [] : [text])));
    return { database: createRecogDatabase(file), texts };
  });
  const round = () => {
    let answers = 0;
    for (const { database, texts } of work) for (const text of texts) answers += database.match(text) ? 1 : 0;
    return answers;
  };
  // Patterns are compiled at their first use.
  round();
  const startedAt = performance.now();
  let answers = 0;
  while (performance.now() - startedAt < SECONDS * 1000) answers += round();
  return Math.round(answers / ((performance.now() - startedAt) / 1000));
}
