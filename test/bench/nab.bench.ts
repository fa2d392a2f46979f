import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createDetector, type Evidence, SHIPPED_THRESHOLD } from "@lanthorn/anomaly";
import * as z from "zod";
import { type LabeledSeries, probation, scoreCorpus } from "./nab-score.ts";

const labelsSchema = z.record(z.string(), z.array(z.tuple([z.string(), z.string()])));

/** Names of the labels give microseconds, those of the data do not. */
const TIMESTAMP_CHARACTERS = "2014-04-10 07:15:00".length;

interface NabFile extends LabeledSeries {
  readonly name: string;
  readonly rows: readonly { readonly at: number; readonly value: number }[];
}

/**
 * Scores the detector as it is shipped on files in NAB's layout (`data/`, `labels/combined_windows.json`): one configuration, row by row.
 * Prints of each file how many windows were found at the shipped threshold, and which evidence weighed most in its highest detection.
 */
export async function run(args: readonly string[]): Promise<void> {
  const [folder, ...others] = args;
  if (folder === undefined || others.length > 0) throw new Error("nab takes one argument: a folder in NAB's layout");
  const files = readCorpus(folder);
  let stateBytes = 0;
  const startedAt = performance.now();
  const answered = files.map((file) => {
    const { scores, detections, state } = answer(file);
    stateBytes = Math.max(stateBytes, state);
    return { file, scores, detections };
  });
  const seconds = (performance.now() - startedAt) / 1000;
  for (const { file, detections } of answered) {
    const found = file.windows.filter(({ first, last }) => detections.some(({ row }) => row >= first && row <= last)).length;
    const most = detections.reduce<Detection | undefined>((top, one) => (top && top.score >= one.score ? top : one), undefined);
    const why = most ? `; highest ${most.score.toFixed(2)} at row ${most.row}: ${describe(most.evidence)}` : "";
    console.log(`${file.name}: ${found} of ${file.windows.length} windows, ${detections.length} detections${why}`);
  }
  const { best, atThreshold } = scoreCorpus(files, answered.map(({ scores }) => scores), SHIPPED_THRESHOLD);
  const quiet = answered.filter(({ file }) => file.windows.length === 0);
  const rows = files.reduce((sum, file) => sum + file.values, 0);
  console.log(JSON.stringify({
    bench: "nab",
    files: files.length,
    windows: files.reduce((sum, file) => sum + file.windows.length, 0),
    swept: best,
    shipped: atThreshold,
    detections_in_quiet_files: quiet.reduce((sum, { detections }) => sum + detections.length, 0),
    state_bytes_max: stateBytes,
    rows_per_second: Math.round(rows / seconds),
  }));
}

interface Detection {
  readonly row: number;
  readonly score: number;
  readonly evidence: Evidence;
}

function answer(file: NabFile): { scores: Float64Array; detections: Detection[]; state: number } {
  const detector = createDetector();
  const scores = new Float64Array(file.values);
  const detections: Detection[] = [];
  const unscored = probation(file.values);
  file.rows.forEach(({ at, value }, row) => {
    const { score, evidence } = detector.observe(at, value);
    scores[row] = score;
    if (row >= unscored && score >= SHIPPED_THRESHOLD) detections.push({ row, score, evidence });
  });
  return { scores, detections, state: detector.save().length };
}

function describe(evidence: Evidence): string {
  return Object.entries(evidence).map(([name, units]) => `${name} ${Number(units).toFixed(1)}`).join(", ");
}

function readCorpus(folder: string): NabFile[] {
  const labels = labelsSchema.parse(JSON.parse(readFileSync(join(folder, "labels", "combined_windows.json"), "utf8")));
  return Object.entries(labels)
    .filter(([name]) => existsSync(join(folder, "data", name)))
    .map(([name, windows]) => {
      const lines = readFileSync(join(folder, "data", name), "utf8").trim().split(/\r?\n/u).slice(1).map((line) => line.split(","));
      const rowOf = new Map<string, number>();
      lines.forEach(([timestamp = ""], row) => {
        if (!rowOf.has(timestamp)) rowOf.set(timestamp, row);
      });
      const find = (timestamp: string) => {
        const row = rowOf.get(timestamp.slice(0, TIMESTAMP_CHARACTERS));
        if (row === undefined) throw new Error(`${name} has no row of ${timestamp}, where a window begins or ends`);
        return row;
      };
      const rows = lines.map(([timestamp = "", value = ""]) => ({ at: Date.parse(`${timestamp.replace(" ", "T")}Z`) / 1000, value: Number(value) }));
      return { name, rows, values: rows.length, windows: windows.map(([from, to]) => ({ first: find(from), last: find(to) })) };
    });
}
