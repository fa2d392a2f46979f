import { BaseSequencer, type TestSpecification } from "vitest/node";

/** They wait for minutes, for hosts to be taken for gone, and do little beside. */
const LONGEST = ["/test/system/routed.test.ts", "/test/system/main-job.test.ts"];

/** Begins with the files that take longest: left to the end, one of them would hold the whole run by itself. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some((path) => moduleId.endsWith(path));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
