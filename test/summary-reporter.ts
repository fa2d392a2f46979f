import type { Reporter, TestModule, TestRunEndReason, TestSpecification } from "vitest/node";

const EVERY_MS = 60_000;

/**
 * Prints how far the run is, once a minute, for the longest files come first and say nothing until they end; and one line at the very end,
 * alone: `N passed, N failed`, and `, N skipped` where some were.
 */
export class SummaryReporter implements Reporter {
  #ended = 0;
  #timer: NodeJS.Timeout | undefined;

  onTestRunStart(files: readonly TestSpecification[]): void {
    const startedAt = performance.now();
    if (files.length > 1) process.stdout.write(`${files.length} test files; each is named when it has ended\n`);
    this.#timer = setInterval(() => {
      const minutes = Math.round((performance.now() - startedAt) / EVERY_MS);
      process.stdout.write(`${this.#ended} of ${files.length} test files have ended after ${minutes} min\n`);
    }, EVERY_MS);
    this.#timer.unref();
  }

  onTestModuleEnd(): void {
    this.#ended += 1;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): void {
    clearInterval(this.#timer);
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      const before = count.failed;
      for (const test of module.children.allTests()) count[test.result().state] += 1;
      if (module.state() === "failed" && count.failed === before) count.failed += 1;
    }
    if (reason === "interrupted") count.failed += count.pending;
    const skipped = count.skipped + count.pending;
    process.on("exit", () => {
      process.stdout.write(`${count.passed} passed, ${count.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`);
    });
  }
}
