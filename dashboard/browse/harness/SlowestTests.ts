import type { Reporter, TestCase, TestResult } from '@playwright/test/reporter';

const COUNT = 10;

/** Names the slowest tests at the end of a run. */
export default class SlowestTests implements Reporter {
  private readonly runs: { test: TestCase; seconds: number }[] = [];

  onTestEnd(test: TestCase, { duration }: TestResult) {
    this.runs.push({ test, seconds: duration / 1000 });
  }

  onEnd() {
    if (this.runs.length <= COUNT) return;
    const slowest = this.runs.toSorted((a, b) => b.seconds - a.seconds).slice(0, COUNT);
    console.log(`\nThe ${COUNT} slowest of ${this.runs.length} tests:`);
    for (const { test, seconds } of slowest) {
      const [, project, file] = test.titlePath();
      console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${project} › ${file} › ${test.title}`);
    }
  }

  printsToStdio() {
    return false;
  }
}
