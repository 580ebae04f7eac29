import type { UseQueryResult } from '@tanstack/react-query';
import type { Report } from '../../api/usageReports';
import { texts } from '../../texts';
import { Ranking } from './Ranking';

const words = texts.usage;

/** A report by model, the highest spend first. Absent for days without usage, which the rest of the page says. */
export function ModelRanking({ report }: { report: UseQueryResult<Report> }) {
  if (report.data?.rows.length === 0) return null;
  return (
    <Ranking
      title={words.models}
      header={words.model}
      report={report}
      name={({ model }) => model || words.noModel}
    />
  );
}
