import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { takeToken } from './api/token.ts';
import { Shell } from './shell/shell.tsx';
import { startTheme } from './shell/theme.ts';
import './style.css';

takeToken();
startTheme();
const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <Shell />
    </StrictMode>,
  );
}
