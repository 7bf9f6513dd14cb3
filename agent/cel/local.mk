# SPDX-License-Identifier: GPL-2.0-or-later
agent_cel_sources = \
	agent/cel/arithmetic.cc \
	agent/cel/budget.h \
	agent/cel/calls.cc \
	agent/cel/cel.cc agent/cel/cel.h \
	agent/cel/eval.cc \
	agent/cel/evaluation.h \
	agent/cel/lexer.cc agent/cel/lexer.h \
	agent/cel/members.cc agent/cel/members.h \
	agent/cel/node.h \
	agent/cel/operands.cc \
	agent/cel/operators.cc \
	agent/cel/parser.cc agent/cel/parser.h \
	agent/cel/regex.cc agent/cel/regex.h \
	agent/cel/value.cc agent/cel/value.h
