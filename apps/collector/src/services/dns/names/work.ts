import { randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { DNS_PART_MAX_BYTES } from "@lanthorn/contract";
import {
  createDatedListReader, createListGuard, createListReader, createNameSetBuilder, createVerdictEngine, detectFormat, type ListFault, type NameSet, openNameSet, readAnswerFacts, type VerdictStep,
} from "@lanthorn/dns";
import { FileRefused } from "../../../sources/file-refused.ts";
import { openPublished, packText } from "./list-text.ts";
import type { Judgement, JudgeOrder, NameTask, NameTasks, ReadList, ReadOrder, SiteList } from "./tasks.ts";

/** Does what the thread is asked. @throws FileRefused for what was published and is no list. */
export type NameWork = (task: NameTask) => NameTasks[keyof NameTasks]["output"];

const SAMPLE_BYTES = 65_536;
const MAX_REFUSALS = 20;
const CNAME = 5;
const IN = 1;

/** The names of the site that was asked about last stay. */
export function createNameWork(): NameWork {
  const kept = { key: "", set: null as NameSet | null };
  const setOf = ({ key, lists }: JudgeOrder): NameSet => {
    if (lists !== null) {
      kept.set = null;
      kept.set = buildSet(lists);
      kept.key = key;
    }
    if (kept.set === null || kept.key !== key) throw new Error("the names of this site are not here");
    return kept.set;
  };
  return (task) => (task.name === "read" ? readPublished(task.input) : judge(setOf(task.input), task.input));
}

function readPublished({ bytes, format: wanted, origin, mayRewrite, before, rulesBefore, protectedNames, day }: ReadOrder): ReadList {
  const published = openPublished(bytes);
  const format = wanted ?? detectFormat(published.subarray(0, SAMPLE_BYTES));
  if (format === null) throw new FileRefused("it is in no format that is known: hosts, domains, wildcard, adblock, dnsmasq, rpz");
  const guard = createListGuard({ rulesBefore, protectedNames, mayBlockPrivateSuffixes: true });
  const reader = createListReader(format, { mayRewrite, origin }, (rule) => guard.look(rule));
  reader.push(published);
  const { rules, refused, refusals } = reader.end();
  const fault = guard.fault();
  if (fault?.code === "empty") throw new FileRefused(refusals[0] ? `${fault.reason}; line ${refusals[0].line} ${refusals[0].reason}` : fault.reason);
  return { ...packText(published, { format, before, day }), format, rules, refused, refusals: refusals.slice(0, MAX_REFUSALS), fault: fault && describeFault(fault) };
}

function describeFault({ reason, names }: ListFault): string {
  return names.length === 0 ? reason : `${reason}: ${names.join(", ")}`;
}

function buildSet(lists: readonly SiteList[]): NameSet {
  const key = randomBytes(8);
  const builder = createNameSetBuilder({ lists: lists.map(({ id, name, category, kind }) => ({ id, name, category, kind })), hashKey: [key.readUInt32LE(0), key.readUInt32LE(4)], day: 0, expectedNames: 0, before: null });
  for (const [index, { format, origin, mayRewrite, parts }] of lists.entries()) {
    const reader = createDatedListReader(format, { mayRewrite, origin, day: 0 }, (rule, day) => void builder.add(index, rule, day));
    for (const part of parts) reader.push(gunzipSync(part, { maxOutputLength: DNS_PART_MAX_BYTES }));
    reader.end();
  }
  const set = openNameSet(Buffer.concat(builder.finish()));
  if ("fault" in set) throw new Error(set.fault);
  return set;
}

function judge(set: NameSet, { rules, query, chain }: JudgeOrder): Judgement {
  const steps: VerdictStep[] = [];
  const note = (step: VerdictStep) => void steps.push(step);
  const engine = createVerdictEngine([set], rules);
  const question = engine.judgeQuestion(query, note);
  const answers = chain.map((name, index) => ({
    name: index === 0 ? query.name : (chain[index - 1] ?? ""), type: CNAME, class: IN, isCacheFlush: false, ttlSeconds: 60, data: { kind: "name" as const, name },
  }));
  const verdict = question.isFinal || chain.length === 0 ? question : engine.judgeAnswer(query, question, readAnswerFacts({ answers }), note);
  return { verdict, steps };
}
