import { Component, type ReactNode, Suspense } from 'react';
import { useWords } from '../words/words.ts';

interface LazyPartProps {
  readonly children: ReactNode;
  /** Shown until the part has loaded. */
  readonly meanwhile?: ReactNode;
}

/** A part of the page that loads on demand. When loading fails, the rest of the page stays. */
export class LazyPart extends Component<LazyPartProps, { readonly missing: boolean }> {
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
