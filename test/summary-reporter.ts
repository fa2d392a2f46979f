import type { Reporter, TestModule, TestRunEndReason } from "vitest/node";

/** Prints one line at the very end, alone: `N passed, N failed`, and `, N skipped` where some were. */
export class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): void {
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
