import { type ReactNode, useEffect, useState } from 'react';
import type { ToolView } from '../../src/protocol/tools.ts';
import { messageOf } from '../api/api.ts';
import { go } from '../shell/route.ts';
import { Trouble } from '../show/trouble.tsx';
import { callChanges, tools } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useThrottled } from '../state/use-throttled.ts';
import { useWords } from '../words/words.ts';
import { ToolPage } from './tool-page.tsx';
import { formatErrorRate, formatTimes, loadStatistics, type ToolStatistics } from './tool-statistics.ts';
import { ToolSwitch } from './tool-switch.tsx';

/** All tools with their descriptions, switches and statistics. */
export function ToolsScreen({ name }: { name: string | null }): ReactNode {
  const say = useWords();
  const all = useStore(tools);
  const [figures, setFigures] = useState<ReadonlyMap<string, ToolStatistics>>(new Map());
  const [trouble, setTrouble] = useState<string | null>(null);
  const changes = useThrottled(callChanges, 5000);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `changes` is the reason to count again
  useEffect(() => {
    loadStatistics().then(setFigures, (error) => setTrouble(messageOf(error)));
  }, [changes]);
  const chosen = all.find((tool) => tool.name === name);
  if (chosen !== undefined) return <ToolPage tool={chosen} figures={figures.get(chosen.name)} />;
  return (
    <div className="h-full overflow-auto p-4">
      <h1 className="mb-3 font-semibold text-xl">{say('tools')}</h1>
      <Trouble text={trouble} />
      <table className="w-full text-left text-sm">
        <thead className="text-soft">
          <tr>
            <th className="py-1 pr-3">{say('toolName')}</th>
            <th className="hidden pr-3 lg:table-cell">{say('description')}</th>
            <th className="hidden pr-3 sm:table-cell">{say('category')}</th>
            <th className="hidden pr-3 md:table-cell">{say('source')}</th>
            <th className="pr-3 text-right">{say('calls')}</th>
            <th className="hidden pr-3 text-right sm:table-cell">{say('errorRate')}</th>
            <th className="hidden pr-3 text-right md:table-cell">p50 / p95</th>
            <th>{say('status')}</th>
          </tr>
        </thead>
        <tbody>
          {all.map((tool) => (
            <Line key={tool.name} tool={tool} figures={figures.get(tool.name)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line({ tool, figures }: { tool: ToolView; figures: ToolStatistics | undefined }): ReactNode {
  return (
    <tr className="border-line border-t">
      <td className="py-1 pr-3">
        <button
          type="button"
          className="min-h-8 font-mono text-accent underline"
          onClick={() => go('tools', tool.name)}
        >
          {tool.name}
        </button>
      </td>
      <td className="hidden max-w-md truncate pr-3 text-soft lg:table-cell" title={tool.description}>
        {tool.description}
      </td>
      <td className="hidden pr-3 sm:table-cell">{tool.category}</td>
      <td className="hidden pr-3 md:table-cell">{tool.source}</td>
      <td className="pr-3 text-right">{figures?.calls ?? 0}</td>
      <td className="hidden pr-3 text-right sm:table-cell">{figures === undefined ? '–' : formatErrorRate(figures)}</td>
      <td className="hidden whitespace-nowrap pr-3 text-right md:table-cell">
        {figures === undefined ? '–' : formatTimes(figures)}
      </td>
      <td>
        <ToolSwitch tool={tool} />
      </td>
    </tr>
  );
}
