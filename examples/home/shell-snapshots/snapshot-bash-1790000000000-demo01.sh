# Snapshot of a shell, made up for the demo
alias ll="ls -l"
