import { Component, type ReactNode, Suspense } from 'react';
import { useWords } from '../words/words.ts';

interface Given {
  readonly children: ReactNode;
  /** Shown until it is there. */
  readonly meanwhile?: ReactNode;
}

/** A part of the page that is fetched when it is needed. Where that fails, the rest of the page stays. */
export class LatePart extends Component<Given, { readonly missing: boolean }> {
  override state = { missing: false };

  static getDerivedStateFromError(): { missing: boolean } {
    return { missing: true };
  }

  override render(): ReactNode {
    if (this.state.missing) return <Missing />;
    return <Suspense fallback={this.props.meanwhile}>{this.props.children}</Suspense>;
  }
}

function Missing(): ReactNode {
  const say = useWords();
  return (
    <div role="alert" className="flex flex-1 flex-col items-start gap-3 p-4">
      <p className="text-bad">{say('partMissing')}</p>
      <button type="button" className="button" onClick={() => location.reload()}>
        {say('reload')}
      </button>
    </div>
  );
}
